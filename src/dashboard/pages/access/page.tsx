import * as v from 'valibot'
import { id, optional } from '../../../model/input/input.js'
import * as r from '../../../model/result.js'
import { ApiToken, listApiTokens } from '../../../people/api-tokens.js'
import { definePage } from '../../define.js'
import { AccessView } from './access-view.js'

const Access = r.object({ tokens: r.list(ApiToken) })

export const access = definePage({
  path: '/settings/access',
  text: 'API tokens with role, expiry and last use',
  role: 'admin',
  parameters: v.object({ application_id: optional(id()) }),
  load: async (context): Promise<v.InferOutput<typeof Access>> => ({ tokens: await listApiTokens.run(context, {}) }),
  title: () => 'Access',
  response: Access,
  json: (data) => data,
  view: ({ tokens }, visit) => <AccessView tokens={tokens} visit={visit} />,
})
