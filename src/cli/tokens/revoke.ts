import type { ApiToken } from '../../people/api-tokens.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { escapeText, print, printJson } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'

export const revokeToken = defineCommand({
  name: 'token revoke',
  summary: 'Revoke an API token',
  text: 'The token stops working at once, in all processes. This cannot be undone.',
  examples: ['faultboard token revoke ci'],
  argument: { name: 'NAME', text: 'Name of the token', isRequired: true },
  flags: { ...COMMON_FLAGS, json: { text: 'Print JSON' } },
  async run(flags, name) {
    if (name === undefined) throw usageError('The name is missing:  faultboard token revoke NAME')
    const { settings } = await readConfiguration(flags)
    const revoked = await withTracker(settings, async ({ Commands, Queries }) => {
      const token_id = requireStoredToken(await Queries.ApiTokens.call(), name)
      return Commands.RevokeApiToken.call({ token_id })
    })
    if (flags.json) printJson(revoked)
    else print(`Revoked the token ${escapeText(revoked.name)}.`)
    return 0
  },
})

function requireStoredToken(tokens: readonly ApiToken[], name: string): number {
  const matching = tokens.filter((token) => token.name === name.normalize('NFC'))
  const token = matching.find(({ id }) => id !== null) ?? matching[0]
  if (!token)
    throw new CommandFailed(`No token has the name ${escapeText(name)}. Run  faultboard token list  to see the names.`)
  if (token.id === null)
    throw new CommandFailed(
      `The token ${escapeText(name)} is part of the option api_tokens. Remove it there and restart the application.`,
    )
  if (token.state === 'revoked') throw new CommandFailed(`The token ${escapeText(name)} is already revoked.`)
  return token.id
}
