import { ownVersion } from '../../health/own-version.js'
import { answerLine, type Server } from '../../mcp/json-rpc.js'
import { createServer } from '../../mcp/server.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration, withoutDashboard } from '../configuration.js'
import { linesOf } from '../io/lines.js'
import { complain, harmless } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'Answer agents over standard input and output, read-only unless allowed more',
  text: 'A server of the Model Context Protocol for agents such as coding assistants: they list errors, read one with its stack,\nfind similar ones, and see statistics and releases. It works on the database; no host has to run.\nWhat strangers may have written reaches the agent marked as untrusted data. Nothing can be changed without --allow-triage.',
  examples: [
    'faultboard mcp --database postgres://localhost/shop',
    'claude mcp add faultboard -- npx faultboard mcp --database sqlite:/srv/shop/faultboard.sqlite3',
  ],
  flags: {
    database: COMMON_FLAGS.database,
    config: COMMON_FLAGS.config,
    'allow-triage': {
      text: 'Let the agent resolve, reopen, assign, snooze, prioritise and comment, recorded as agent (mcp)',
    },
  },
  async run(flags) {
    const say = protocolOnly()
    const { settings } = await readConfiguration({ ...flags, 'application-name': undefined })
    if (process.stdin.isTTY)
      complain('Waiting for an agent on standard input. It is to be started by one; Ctrl+D ends it.')
    return withTracker(withoutDashboard(settings), async (tracker) => {
      const log = (sentence: string) => complain(harmless(sentence))
      const server = createServer({ tracker, version: ownVersion() ?? '', allow_triage: flags['allow-triage'], log })
      await serve(server, say)
      return 0
    })
  },
})

/** The protocol alone speaks on standard output; what anything else says there, a configuration file for one, goes aside. */
function protocolOnly(): Say {
  const write: (text: string, written: () => void) => boolean = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  return (message) => new Promise((settle) => write(`${JSON.stringify(message)}\n`, settle))
}

type Say = (message: object) => Promise<void>

/** No question is longer. */
const LONGEST_LINE = 4 * 1024 * 1024
/** So many questions are answered at once; who asks more waits. */
const MOST_AT_ONCE = 100

/** Until nobody asks any more. Questions do not wait for each other. */
async function serve(server: Server, say: Say): Promise<void> {
  const pending = new Set<Promise<void>>()
  for await (const line of linesOf(process.stdin, LONGEST_LINE)) {
    if (line.text?.trim() === '') continue
    const done: Promise<void> = answerLine(line, server)
      .then((answer) => (answer ? say(answer) : undefined))
      .finally(() => pending.delete(done))
    pending.add(done)
    if (pending.size >= MOST_AT_ONCE) await Promise.race(pending)
  }
  await Promise.all(pending)
}
