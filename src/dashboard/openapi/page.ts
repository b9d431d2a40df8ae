import * as v from 'valibot'
import { ownVersion } from '../../health/own-version.js'
import { defineFeed } from '../define.js'

/** The API as programs read it. Made when it is asked for: nobody else has to load it. */
export const openapi = defineFeed({
  path: '/openapi',
  text: 'This API as an OpenAPI 3.1 document, also as `/openapi.json`',
  parameters: v.object({}),
  async load(_context, _parameters, { base }) {
    const { openApiDocument } = await import('./document.js')
    return openApiDocument({ base, version: ownVersion() ?? 'unknown' })
  },
})
