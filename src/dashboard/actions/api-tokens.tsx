import * as v from 'valibot'
import { id, optional } from '../../model/input/input.js'
import { createApiToken, listApiTokens, revokeApiToken } from '../../people/api-tokens.js'
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
  async run(context, { application_id, ...input }, actor) {
    const created = await createApiToken.run(context, { ...input, created_by: actor })
    const tokens = await listApiTokens.run(context, {})
    return {
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
  async run(context, { token_id, application_id }) {
    const { name } = await revokeApiToken.run(context, { token_id })
    return { to: pathWith(ACCESS_PATH, { application_id }), notice: `Revoked the token ${name}.` }
  },
})

export const apiTokenActions: readonly Action[] = [createToken, revokeToken]
