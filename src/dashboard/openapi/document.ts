import { type Described, describeInput } from '../../model/describe-input.js'
import { type JsonSchema, parameterSchema } from '../../model/json-schema.js'
import type { Endpoint, Page } from '../define.js'
import { type Routes, STREAM } from '../routes.js'
import { ANSWERS } from './answers.js'
import { components } from './schema.js'

export interface DocumentOptions {
  /** The mount path. */
  base: string
  version: string
  routes: Routes
}

/** The API as an OpenAPI 3.1 document, from the table of endpoints. */
export function openApiDocument({ base, version, routes }: DocumentOptions): JsonSchema {
  const paths: Record<string, JsonSchema> = {}
  const add = (path: string, operation: JsonSchema) => {
    paths[path] = { ...paths[path], ...operation }
  }
  for (const page of routes.pages) {
    const path = pathOf(page)
    const content = { 'application/json': { schema: responseOf(page, path) }, 'text/html': {} }
    add(path, { get: reading(page, path, content, page.links ? LINKS : {}) })
    if (page.csv) add(`${path}.csv`, { get: reading(page, `${path}.csv`, { 'text/csv': {} }) })
  }
  for (const feed of routes.feeds) {
    const path = pathOf(feed)
    add(path, { get: reading(feed, path, { 'application/json': { schema: responseOf(feed, path) } }) })
  }
  for (const download of routes.downloads) {
    add(pathOf(download), { get: reading(download, pathOf(download), { 'application/octet-stream': {} }) })
  }
  add(pathOf(STREAM), { get: reading(STREAM, pathOf(STREAM), { 'text/event-stream': {} }) })
  for (const action of routes.actions) add(pathOf(action), { post: acting(action) })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Faultboard',
      version,
      description:
        'The dashboard answers JSON on the paths of its pages, to `Accept: application/json` or with `.json` appended. Actions take forms and answer 302. Times are ISO 8601 in UTC. Optional parameters that are empty count as left out.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base }],
    security: [{ basic: [] }],
    paths,
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
      schemas: {
        ...components(),
        Problem: { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] },
      },
      responses: Object.fromEntries(
        Object.entries(PROBLEMS).map(([status, text]) => [`Problem${status}`, problem(Number(status), text)]),
      ),
    },
  }
}

const PROBLEMS = {
  401: 'Credentials are missing or wrong',
  403: 'The request comes from another site',
  404: 'There is no such record, or the page is switched off: the sentence names the option',
  409: 'Not possible just now: the sentence says why',
  413: 'The body is too large',
  422: 'A parameter is missing or wrong: the sentence names each of them, and what is allowed',
  429: 'Too many requests from this address; Retry-After says when to try again',
  500: 'A failing query or a bug; the log of the application has the details',
  503: 'The database is unreachable, locked or not migrated, or a stream has too many readers',
} as const

const header = (description: string, type = 'string'): JsonSchema => ({ description, schema: { type } })

const LINKS = { Link: header('The first, previous, next and last page, of JSON') }

const PROBLEM_HEADERS: Readonly<Record<number, JsonSchema>> = {
  401: { 'WWW-Authenticate': header('The challenge of HTTP Basic') },
  429: { 'Retry-After': header('Seconds until the next try', 'integer') },
  503: { 'Retry-After': header('Seconds until the next attempt', 'integer') },
}

/** Browsers, and who asks for a table, get the sentence as a page; that of too many requests nobody does. */
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

function reading(endpoint: Endpoint, path: string, content: JsonSchema, headers: JsonSchema = {}): JsonSchema {
  const all = describeInput(endpoint.parameters)
  return {
    ...told(endpoint, 'get', path),
    parameters: all.map((one) => parameter(one, path)),
    responses: { 200: { description: endpoint.text, headers, content }, ...problems(401, 404, 422, 429, 500, 503) },
  }
}

function acting(endpoint: Endpoint): JsonSchema {
  const path = pathOf(endpoint)
  // Who acts is known from the credentials, whatever a form says.
  const all = describeInput(endpoint.parameters).filter(({ name }) => name !== 'actor')
  const inForm = all.filter(({ name }) => !isInPath(name, path))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(inForm.map((one) => [formName(one), parameterSchema(one)])),
    required: inForm.filter(({ required }) => required).map(formName),
  }
  return {
    ...told(endpoint, 'post', path),
    parameters: all.filter(({ name }) => isInPath(name, path)).map((one) => parameter(one, path)),
    ...(inForm.length > 0 && {
      requestBody: {
        required: schema.required.length > 0,
        content: { 'application/x-www-form-urlencoded': { schema } },
      },
    }),
    responses: {
      302: {
        description: 'Done: it leads to the page that shows it',
        headers: { Location: { schema: { type: 'string' } } },
      },
      ...problems(401, 403, 404, 409, 413, 422, 429, 500, 503),
    },
  }
}

function told({ text, needs }: Endpoint, method: string, path: string): JsonSchema {
  const switches = [needs ?? []].flat()
  const on = switches.length === 0 ? {} : { description: `Switched on by ${switches.join(' and ')}.` }
  return { operationId: `${method}${path.replace(/[^a-z]+/g, '_')}`.replace(/_+$/, ''), summary: text, ...on }
}

function parameter(one: Described, path: string): JsonSchema {
  const in_path = isInPath(one.name, path)
  return {
    name: one.list ? formName(one) : one.name,
    in: in_path ? 'path' : 'query',
    required: in_path || one.required,
    schema: parameterSchema(one),
  }
}

function formName({ name, list }: Described): string {
  return list ? `${name}[]` : name
}

function isInPath(name: string, path: string): boolean {
  return path.includes(`{${name}}`)
}

/** `/errors/:error_id{[0-9]+}` as the document writes it. */
function pathOf({ path }: Endpoint): string {
  return path.replace(/:(\w+)(\{[^}]*\})?/g, '{$1}')
}

function responseOf(endpoint: Endpoint & Pick<Page, 'response'>, path: string): JsonSchema {
  const response = endpoint.response ?? ANSWERS[path]
  if (!response) throw new Error(`${path} has no response schema: set \`response\` in its page`)
  return response.json
}
