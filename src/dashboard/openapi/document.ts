import { describeInput, type ParameterDescription } from '../../model/input/describe-input.js'
import { type JsonSchema, parameterSchema } from '../../model/input/json-schema.js'
import type { Endpoint, Routes } from '../define.js'
import { liveStream } from '../live.js'
import { ResponseSchemas } from './response-schema.js'

export interface DocumentOptions {
  /** Mount path. */
  base: string
  version: string
  routes: Routes
}

/** Builds the OpenAPI 3.1 document from the endpoints. */
export function openApiDocument({ base, version, routes }: DocumentOptions): JsonSchema {
  const schemas = new ResponseSchemas()
  const paths: Record<string, JsonSchema> = {}
  const add = (path: string, operation: JsonSchema) => {
    paths[path] = { ...paths[path], ...operation }
  }
  for (const page of routes.pages) {
    const path = documentPath(page)
    const content = { 'application/json': { schema: schemas.convert(page.response) }, 'text/html': {} }
    add(path, { get: getOperation(page, path, content, page.links ? LINKS : {}) })
    if (page.csv) add(`${path}.csv`, { get: getOperation(page, `${path}.csv`, { 'text/csv': {} }) })
  }
  for (const feed of routes.feeds) {
    const path = documentPath(feed)
    add(path, { get: getOperation(feed, path, { 'application/json': { schema: schemas.convert(feed.response) } }) })
  }
  for (const download of routes.downloads) {
    add(documentPath(download), {
      get: getOperation(download, documentPath(download), { 'application/octet-stream': {} }),
    })
  }
  add(documentPath(liveStream), {
    get: getOperation(liveStream, documentPath(liveStream), { 'text/event-stream': {} }),
  })
  for (const action of routes.actions)
    add(documentPath(action), { post: postOperation(action, schemas.convert(action.response)) })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Faultboard',
      version,
      description:
        'Pages return JSON for `Accept: application/json` or with `.json` appended to the path. Actions accept forms and redirect with 302; with an API token and `Accept: application/json`, they return the changed record. Times are ISO 8601 in UTC. Empty optional parameters are ignored.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base }],
    security: [{ basic: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer', description: 'API token' },
      },
      schemas: {
        ...schemas.components(),
        Problem: { type: 'object', properties: { error: { type: 'string' }, position: POSITION }, required: ['error'] },
      },
      responses: Object.fromEntries(
        Object.entries(PROBLEMS).map(([status, text]) => [`Problem${status}`, problem(Number(status), text)]),
      ),
    },
  }
}

const POSITION = {
  type: 'integer',
  description: 'Character of `query` at which a malformed query was rejected, from 1',
}

const PROBLEMS = {
  401: 'Credentials are missing or wrong, or the API token is unknown, expired or revoked',
  403: 'The role does not allow this, or the request comes from another site; the message names the required role',
  404: 'Unknown record, unknown `environment` or disabled page; the message names the known environments or the option',
  409: 'Conflict with the current state; the message contains the reason',
  413: 'The body is too large',
  422: 'Missing or invalid parameters; the message names each parameter and its allowed values',
  429: 'Too many requests from this address; see Retry-After',
  500: 'Internal error; see the application log',
  503: 'The database is unreachable, locked or not migrated, or there are too many live connections',
} as const

const header = (description: string, type = 'string'): JsonSchema => ({ description, schema: { type } })

const LINKS = { Link: header('First, previous, next and last page') }

const PROBLEM_HEADERS: Readonly<Record<number, JsonSchema>> = {
  401: { 'WWW-Authenticate': header('HTTP Basic challenge') },
  429: { 'Retry-After': header('Seconds until the next attempt', 'integer') },
  503: { 'Retry-After': header('Seconds until the next attempt', 'integer') },
}

/** Error response as JSON or HTML; 429 is always JSON. */
function problem(status: number, description: string): JsonSchema {
  const headers = PROBLEM_HEADERS[status]
  return {
    description,
    ...(headers && { headers }),
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
      ...(status !== 429 && { 'text/html': {} }),
    },
  }
}

function problems(...statuses: (keyof typeof PROBLEMS)[]): JsonSchema {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]))
}

function getOperation(endpoint: Endpoint, path: string, content: JsonSchema, headers: JsonSchema = {}): JsonSchema {
  const all = describeInput(endpoint.parameters)
  return {
    ...describeEndpoint(endpoint, 'get', path),
    parameters: all.map((input) => parameter(input, path)),
    responses: {
      200: { description: endpoint.text, headers, content },
      ...problems(401, 403, 404, 422, 429, 500, 503),
    },
  }
}

function postOperation(endpoint: Endpoint, changedRecord: JsonSchema): JsonSchema {
  const path = documentPath(endpoint)
  // The credentials determine the actor.
  const all = describeInput(endpoint.parameters).filter(({ name }) => name !== 'actor')
  const inForm = all.filter(({ name }) => !isInPath(name, path))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(inForm.map((input) => [formName(input), parameterSchema(input)])),
    required: inForm.filter(({ required }) => required).map(formName),
  }
  return {
    ...describeEndpoint(endpoint, 'post', path),
    parameters: all.filter(({ name }) => isInPath(name, path)).map((input) => parameter(input, path)),
    ...(inForm.length > 0 && {
      requestBody: {
        required: schema.required.length > 0,
        content: { 'application/x-www-form-urlencoded': { schema } },
      },
    }),
    responses: {
      200: {
        description: 'The changed record, for requests with an API token and `Accept: application/json`',
        content: { 'application/json': { schema: changedRecord } },
      },
      302: {
        description: 'Redirect to the page that shows the result',
        headers: { Location: { schema: { type: 'string' } } },
      },
      ...problems(401, 403, 404, 409, 413, 422, 429, 500, 503),
    },
  }
}

function describeEndpoint({ text, needs, role }: Endpoint, method: string, path: string): JsonSchema {
  const switches = [needs ?? []].flat()
  const on = switches.length === 0 ? '' : ` Enabled by ${switches.join(' and ')}.`
  return {
    operationId: `${method}${path.replace(/[^a-z]+/g, '_')}`.replace(/_+$/, ''),
    summary: text,
    description: `Requires the role ${role}.${on}`,
    'x-required-role': role,
  }
}

function parameter(input: ParameterDescription, path: string): JsonSchema {
  const isPathParameter = isInPath(input.name, path)
  return {
    name: input.name,
    in: isPathParameter ? 'path' : 'query',
    required: isPathParameter || input.required,
    schema: parameterSchema(input),
  }
}

function formName({ name, list }: ParameterDescription): string {
  return list ? `${name}[]` : name
}

function isInPath(name: string, path: string): boolean {
  return path.includes(`{${name}}`)
}

/** Converts `/errors/:error_id{[0-9]+}` to `/errors/{error_id}`. */
function documentPath({ path }: Endpoint): string {
  return path.replace(/:(\w+)(\{[^}]*\})?/g, '{$1}')
}
