import type { ApiToken } from '../../people/api-tokens.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { print, printJson, terminalWidth } from '../io/terminal.js'
import { type Column, textTable } from '../io/text-table.js'
import { withTracker } from '../open-tracker.js'

export const listTokens = defineCommand({
  name: 'token list',
  summary: 'List API tokens with role, state and last use',
  examples: ['faultboard token list', 'faultboard token list --json'],
  flags: { ...COMMON_FLAGS, json: { text: 'Print JSON' } },
  async run(flags) {
    const { settings } = await readConfiguration(flags)
    const tokens = await withTracker(settings, ({ Queries }) => Queries.ApiTokens.call())
    if (flags.json) printJson({ tokens })
    else if (tokens.length === 0) {
      print('No API tokens yet.')
      print('To create one:  faultboard token create NAME')
    } else for (const line of textTable(COLUMNS, tokens, terminalWidth())) print(line)
    return 0
  },
})

const COLUMNS: readonly Column<ApiToken>[] = [
  { title: 'NAME', text: ({ name }) => name, limit: 40 },
  { title: 'ROLE', text: ({ role }) => role },
  { title: 'STATE', text: ({ state }) => state, isState: true },
  { title: 'EXPIRES', text: ({ expires_at }) => expires_at?.slice(0, 10) ?? 'never' },
  { title: 'LAST USED (UTC)', text: ({ last_used_at }) => last_used_at?.slice(0, 16).replace('T', ' ') ?? '-' },
  { title: 'CREATED BY', text: ({ created_by }) => created_by ?? 'api_tokens', limit: 30, dropPriority: 1 },
]
