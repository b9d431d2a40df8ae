import { respondToLine, type Server } from '../../mcp/json-rpc.js'
import { createServer } from '../../mcp/server.js'
import { ACTOR } from '../../mcp/tools/triage.js'
import { VERSION } from '../../model/version.js'
import type { Environment } from '../../tracker.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { readLines } from '../io/lines.js'
import { escapeText, printError } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'Serve AI agents over standard input and output (MCP), read-only by default',
  text: 'A Model Context Protocol server for agents such as coding assistants. They can list errors, read an error with its\nstack, find similar errors, and read statistics and releases. It needs only the database; the host does not have to be running.\nUntrusted text is marked as such for the agent. Nothing can be changed without --allow-triage.',
  examples: [
    'faultboard mcp --database postgres://localhost/shop',
    'claude mcp add faultboard -- npx faultboard mcp --database sqlite:/srv/shop/faultboard.sqlite3',
  ],
  withoutJson: 'It speaks JSON-RPC on standard input and output.',
  flags: {
    database: COMMON_FLAGS.database,
    config: COMMON_FLAGS.config,
    'allow-triage': {
      text: 'Allow the agent to resolve, reopen, assign, snooze, prioritize and comment, recorded as agent (mcp)',
    },
  },
  async run(flags) {
    const writeMessage = reserveStandardOutput()
    const { settings } = await readConfiguration({ ...flags, 'application-name': undefined })
    if (process.stdin.isTTY)
      printError(
        'Waiting for an agent on standard input. This command is meant to be started by an agent; press Ctrl+D to quit.',
      )
    return withTracker(
      settings,
      async (tracker) => {
        const log = (message: string) => printError(escapeText(message))
        const server = createServer({ tracker, version: VERSION, allow_triage: flags['allow-triage'], log })
        await serve(server, writeMessage)
        return 0
      },
      AGENT,
    )
  },
})

/** Environment of the tracker, for the Audit page. */
const AGENT: Environment = { origin: { kind: 'mcp', actor: ACTOR, address: null } }

/**
 * Reserves standard output for the protocol. Other output, such as that of a configuration file, is redirected to
 * standard error.
 */
function reserveStandardOutput(): WriteMessage {
  const write: (text: string, written: () => void) => boolean = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  return (message) => new Promise((settle) => write(`${JSON.stringify(message)}\n`, settle))
}

type WriteMessage = (message: object) => Promise<void>

/** Longer than any request. */
const MAX_LINE_BYTES = 4 * 1024 * 1024
/** Maximum number of concurrent requests; further requests wait. */
const MAX_PENDING_REQUESTS = 100

/** Handles requests concurrently until the input ends. */
async function serve(server: Server, writeMessage: WriteMessage): Promise<void> {
  const pending = new Set<Promise<void>>()
  for await (const line of readLines(process.stdin, MAX_LINE_BYTES)) {
    if (line.text?.trim() === '') continue
    const done: Promise<void> = respondToLine(line, server)
      .then((response) => (response ? writeMessage(response) : undefined))
      .finally(() => pending.delete(done))
    pending.add(done)
    if (pending.size >= MAX_PENDING_REQUESTS) await Promise.race(pending)
  }
  await Promise.all(pending)
}
