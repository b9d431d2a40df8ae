import * as v from 'valibot'
import { parseInput } from '../../model/input/input.js'
import { ROLES } from '../../model/people/identity.js'
import { createApiToken } from '../../people/api-tokens.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { escapeText, print, printError, printJson } from '../io/terminal.js'
import { withTracker } from '../open-tracker.js'

/** Creator of tokens in the list. */
const ACTOR = 'the command line'

export const createToken = defineCommand({
  name: 'token create',
  summary: 'Create an API token and print it once',
  text: 'Prints the token on standard output, and everything else on standard error. The database stores its hash only.',
  examples: [
    'faultboard token create ci --role viewer --expires-in-days 90',
    'faultboard token create agent --role responder',
  ],
  argument: { name: 'NAME', text: 'Name of the token, which is recorded with its changes', isRequired: true },
  flags: {
    ...COMMON_FLAGS,
    role: { value: 'ROLE', text: `${ROLES.join(', ')} (default: viewer)`, allowed: ROLES },
    'expires-in-days': { value: 'N', text: 'Days until the token expires (default: never)' },
    json: { text: 'Print JSON' },
  },
  async run(flags, name) {
    if (name === undefined) throw usageError('The name is missing:  faultboard token create NAME')
    const input = parseInput(FLAGS, {
      NAME: name,
      '--role': flags.role ?? 'viewer',
      '--expires-in-days': flags['expires-in-days'],
    })
    const { settings } = await readConfiguration(flags)
    const created = await withTracker(settings, ({ Commands }) =>
      Commands.CreateApiToken.call({
        name: input.NAME,
        role: input['--role'],
        expires_in_days: input['--expires-in-days'],
        created_by: ACTOR,
      }),
    )
    if (flags.json) printJson(created)
    else {
      const end =
        created.expires_at === null ? 'It does not expire.' : `It expires on ${created.expires_at.slice(0, 10)}.`
      print(created.token)
      printError(
        `Created the token ${escapeText(created.name)} with the role ${created.role}. ${end} Store it now: it cannot be shown again.`,
      )
    }
    return 0
  },
})

const { name, role, expires_in_days } = createApiToken.input.entries

/** Input schema keyed by flag, so that error messages show the names that the user typed. */
const FLAGS = v.object({ NAME: name, '--role': role, '--expires-in-days': expires_in_days })
