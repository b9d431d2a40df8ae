import * as v from 'valibot'
import { id, optional } from '../../model/input/input.js'
import { ApiToken, CreatedToken, createApiToken, listApiTokens, revokeApiToken } from '../../people/api-tokens.js'
import { type Action, defineAction } from '../define.js'
import { pathWith } from '../links/href.js'
import { ACCESS_PATH, AccessView } from '../pages/access/access-view.js'

const { created_by: _, ...createInput } = createApiToken.input.entries
const application_id = optional(id())

const createToken = defineAction({
  path: ACCESS_PATH,
  text: 'Create an API token, and show its secret once',
  role: 'admin',
  parameters: v.object({ ...createInput, application_id }),
  response: CreatedToken,
  async run(context, { application_id, ...input }, actor) {
    const created = await createApiToken.run(context, { ...input, created_by: actor })
    const tokens = await listApiTokens.run(context, {})
    return {
      json: () => created,
      to: pathWith(ACCESS_PATH, { application_id }),
      notice: null,
      page: {
        title: 'Token created',
        view: (visit) => <AccessView tokens={tokens} created={created} visit={visit} />,
      },
    }
  },
})

const revokeToken = defineAction({
  path: `${ACCESS_PATH}/:token_id{[0-9]+}/revoke`,
  text: 'Revoke an API token',
  role: 'admin',
  parameters: v.object({ ...revokeApiToken.input.entries, application_id }),
  response: ApiToken,
  async run(context, { token_id, application_id }) {
    const token = await revokeApiToken.run(context, { token_id })
    const to = pathWith(ACCESS_PATH, { application_id })
    return { json: () => token, to, notice: `Revoked the token ${token.name}.` }
  },
})

export const apiTokenActions: readonly Action[] = [createToken, revokeToken]
