import { tableRow } from './table-row.mjs'

/** Renders docs/endpoints.md from the table of endpoints. */
export function endpoints({ allRoutes, liveStream, describeInput, OPTIONS }) {
  const { pages: PAGES, feeds: FEEDS, downloads: DOWNLOADS, actions: ACTIONS } = allRoutes
  const kinds = [
    { title: 'Pages', of: PAGES, method: 'GET', formats: pageFormats, statuses: [200, 401, 403, 404, 422, 429, 503] },
    {
      title: 'JSON only',
      of: FEEDS,
      method: 'GET',
      formats: () => 'JSON',
      statuses: [200, 401, 403, 404, 422, 429, 503],
    },
    {
      title: 'Downloads',
      of: DOWNLOADS,
      method: 'GET',
      formats: () => 'a file',
      statuses: [200, 401, 403, 404, 422, 429, 503],
    },
    {
      title: 'Stream of changes',
      of: [liveStream],
      method: 'GET',
      formats: () => 'server-sent events',
      statuses: [200, 401, 403, 429, 503],
    },
    {
      title: 'Actions',
      of: ACTIONS,
      method: 'POST',
      formats: () => 'redirect, or JSON',
      statuses: [200, 302, 401, 403, 404, 413, 422, 429, 503],
    },
  ]
  const described = kinds.map((kind) => ({
    ...kind,
    of: kind.of.map((endpoint) => describe(endpoint, kind, describeInput)),
  }))
  return `${introduction(OPTIONS)}
${overview(described)}
${described.map(({ title, of }) => `## ${title}\n\n${of.map(section).join('\n')}`).join('\n')}`
}

function introduction({ mount_path, rate_limit_per_minute }) {
  return `# Endpoints

<!-- Generated from src/dashboard/routes.ts by \`npm run docs\`. Do not edit. -->

Read and change errors over HTTP:

\`\`\`sh
curl -u admin:secret 'http://localhost:3000${mount_path.default}/errors.json?severity=critical&unresolved=true'
curl -u admin:secret -d assigned_to=eve@example.org http://localhost:3000${mount_path.default}/errors/7/assign
curl -H "Authorization: Bearer $FAULTBOARD_TOKEN" -H 'Accept: application/json' -d '' http://localhost:3000${mount_path.default}/errors/7/resolve
\`\`\`

Paths are relative to \`mount_path\` (default \`${mount_path.default}\`), which itself redirects to the overview.
Short links such as \`/e/shop-42\` redirect to the error with that number; the name before it does not matter.

**Authentication.** Every path requires a sign-in ([teams](teams.md)), such as HTTP Basic credentials or an API token, including unknown
paths and assets. Without it, the response is 401 with a \`WWW-Authenticate\` header. Failed sign-ins are limited.

**Roles.** Each endpoint requires a role: \`viewer\`, \`responder\` or \`admin\`. Each role includes the roles before it. Otherwise, the response
is 403 and names the role.

**Formats.** A page returns HTML to a browser, and JSON for \`Accept: application/json\` or with \`.json\` appended to its path.
For pages with CSV, \`.csv\` returns all rows that match the filters. Lists have a \`Link\` header with the adjacent pages.
Text is compressed with gzip for clients that accept it.

**Parameters.** Pages read the query string, actions a form-encoded body (\`application/x-www-form-urlencoded\`).
Write lists as \`name[]=1&name[]=2\`. Booleans are \`true\`, \`1\`, \`on\`, and \`false\`, \`0\`, \`off\` or empty. An empty optional
parameter counts as omitted. Unknown parameters are ignored.

**Numbers** are whole numbers in decimal digits: \`1.5\`, \`1e1\` and \`+5\` return 422. Out of range, \`page\`, \`per_page\` and
\`days\` are clamped; every other number, such as \`priority_level=9\`, returns 422. An id in a path that no record has returns 404.

**Times** in JSON are ISO 8601 in UTC. Days and hours begin in \`time_zone\`.

**Actions** return 302 and redirect to a page that shows a message once. With an [API token](teams.md#api-tokens) and
\`Accept: application/json\`, they return the changed record instead. A new API token is never part of a redirect: the response contains it. A POST that a browser marks as cross-site
(\`Sec-Fetch-Site\`, \`Origin\`) returns 403. A client that sends neither header needs no token.

**Errors** have an HTML page for browsers and \`{ "error": "..." }\` for programs:

| status | meaning |
|---|---|
| 401 | credentials are missing or wrong, or the API token is unknown, expired or revoked: the body states which |
| 403 | the role does not allow this: the body names the required role; or the request comes from another site |
| 404 | the record or path does not exist, no error has the environment: the body names the known ones; or the page is off: the body names the option |
| 409 | not possible at the moment: the body contains the reason |
| 413 | the body is too large |
| 422 | a parameter is missing or invalid: the body lists each of them with the allowed values |
| 429 | too many requests from this address; always JSON, with \`Retry-After\` |
| 500 | a query failed or the dashboard has a bug; the log of the application has the details |
| 503 | the database is unreachable, locked or not migrated, or there are too many live connections; with \`Retry-After\` |

**Rate limit.** With \`enable_rate_limiting\`, an address can send \`rate_limit_per_minute\` requests (default ${rate_limit_per_minute.default}). Every
response then has the headers \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`.
`
}

function overview(kinds) {
  const rows = kinds.flatMap(({ of }) =>
    of.map(({ heading, anchor, text, role, needs }) =>
      tableRow([`[\`${heading}\`](#${anchor})`, text, role, optionList(needs)]),
    ),
  )
  return `| endpoint | description | role | required options |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function describe(endpoint, { method, formats, statuses }, describeInput) {
  // Removes the patterns of path segments, which only the router needs: `:error_id{[0-9]+}`.
  const path = endpoint.path.replace(/\{[^}]*\}/g, '')
  const heading = `${method} ${path}`
  const needs = [endpoint.needs ?? []].flat()
  const in_path = [...path.matchAll(/:(\w+)/g)].map((match) => match[1])
  // The actor comes from the credentials, not from the form.
  const parameters = describeInput(endpoint.parameters).filter(({ name }) => name !== 'actor')
  const possible = statuses.filter(
    (status) =>
      (status !== 404 || in_path.length + needs.length > 0) && (status !== 422 || parameters.length > in_path.length),
  )
  return {
    heading,
    anchor: heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
    text: endpoint.text,
    role: endpoint.roleFor ? `${endpoint.role} or admin` : endpoint.role,
    needs,
    formats: formats(endpoint),
    statuses: possible,
    parameters: parameters.map((parameter) => ({
      ...parameter,
      in_path: in_path.includes(parameter.name),
      isFormList: Boolean(parameter.list) && method === 'POST',
    })),
  }
}

function pageFormats({ csv }) {
  return csv ? 'HTML, JSON, CSV' : 'HTML, JSON'
}

function section({ heading, text, role, needs, formats, statuses, parameters }) {
  const lines = [`### \`${heading}\``, '', `${text}.`]
  lines.push(`Requires the role ${role}.`)
  if (needs.length > 0) lines.push(`Requires ${optionList(needs)}.`)
  lines.push('', `Returns ${formats}; ${statuses.join(', ')}.`, '')
  if (parameters.length > 0) {
    lines.push('| parameter | value | required | default |', '|---|---|---|---|', ...parameters.map(parameterRow), '')
  }
  return lines.join('\n')
}

function parameterRow({ name, list, required, in_path, isFormList, default: value, ...facts }) {
  return tableRow([
    `\`${isFormList ? `${name}[]` : name}\``,
    list
      ? `${isFormList ? 'list of' : 'can be repeated'}: ${describeFacts(facts)}${list.max === null ? '' : `; at most ${list.max}`}`
      : describeFacts(facts),
    in_path ? 'in the path' : required ? 'yes' : 'no',
    value === undefined ? '' : `\`${value}\``,
  ])
}

function describeFacts({ note, ...facts }) {
  return note === undefined ? describeValue(facts) : `${describeValue(facts)}: ${note}`
}

function describeValue({ type, min, max, clamped, allowed }) {
  if (allowed) return allowed.map((value) => `\`${value}\``).join(', ')
  if (type === 'id') return 'id of a record'
  if (type === 'time') return 'time in ISO 8601'
  if (type === 'day') return 'day as `YYYY-MM-DD`'
  if (type === 'boolean') return '`true` or `false`'
  if (type === 'text')
    return `string${max === undefined ? '' : `, ${clamped ? 'truncated after' : 'at most'} ${max} characters`}`
  const kind = type === 'integer' ? 'whole number' : 'number'
  return min === undefined ? kind : `${kind} from ${min} to ${max}${clamped ? ', clamped' : ''}`
}

function optionList(needs) {
  return needs.map((name) => `\`${name}\``).join(' and ')
}
