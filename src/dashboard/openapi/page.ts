import * as v from 'valibot'
import * as r from '../../model/result.js'
import { VERSION } from '../../model/version.js'
import type { Routes } from '../define.js'
import { defineFeed, type Feed } from '../define.js'

/** Feed of the API as an OpenAPI document. Loads the generator on demand, because most processes never need it. */
export function openapiFeed(routes: () => Routes): Feed {
  return defineFeed({
    path: '/openapi',
    text: 'This API as an OpenAPI 3.1 document, also as `/openapi.json`',
    role: 'viewer',
    parameters: v.object({}),
    response: r.anyObject,
    async load(_context, _parameters, { base }) {
      const { openApiDocument } = await import('./document.js')
      return openApiDocument({ base, version: VERSION, routes: routes() })
    },
  })
}
