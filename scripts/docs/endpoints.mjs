import { tableRow } from './table-row.mjs'

/** docs/endpoints.md, from the table of endpoints. */
export function endpoints({ allRoutes, STREAM, describeInput, OPTIONS }) {
  const { pages: PAGES, feeds: FEEDS, downloads: DOWNLOADS, actions: ACTIONS } = allRoutes
  const kinds = [
    { title: 'Pages', of: PAGES, method: 'GET', formats: pageFormats, statuses: [200, 401, 404, 422, 429, 503] },
    {
      title: 'For programs',
      of: FEEDS,
      method: 'GET',
      formats: () => 'JSON',
      statuses: [200, 401, 404, 422, 429, 503],
    },
    {
      title: 'Downloads',
      of: DOWNLOADS,
      method: 'GET',
      formats: () => 'a file',
      statuses: [200, 401, 404, 422, 429, 503],
    },
    {
      title: 'The stream of changes',
      of: [STREAM],
      method: 'GET',
      formats: () => 'server-sent events',
      statuses: [200, 401, 429, 503],
    },
    {
      title: 'Actions',
      of: ACTIONS,
      method: 'POST',
      formats: () => 'redirect',
      statuses: [302, 401, 403, 404, 413, 422, 429, 503],
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

Paths are relative to the mount path, \`${mount_path.default}\` unless \`mount_path\` says otherwise. The mount path itself redirects
to the overview.

**Authentication.** Every path, unknown ones and assets included, wants HTTP Basic credentials (\`dashboard_username\`,
\`dashboard_password\`). Without them the answer is 401 with a \`WWW-Authenticate\` header. Failed sign-ins are limited.

**Formats.** A page answers HTML to a browser, and JSON to \`Accept: application/json\` or with \`.json\` appended to its path.
Where CSV is named, \`.csv\` gives all rows that fit the filters. Lists carry a \`Link\` header with the pages around them.
Text is compressed with gzip for clients that accept it.

\`\`\`
curl -u admin:secret 'http://localhost:3000${mount_path.default}/errors.json?severity=critical&unresolved=true'
curl -u admin:secret -d assigned_to=eve@example.org http://localhost:3000${mount_path.default}/errors/7/assign
\`\`\`

**Parameters.** Pages take them in the query string, actions form-encoded in the body (\`application/x-www-form-urlencoded\`);
lists are written \`name[]=1&name[]=2\`. \`true\`, \`1\`, \`on\` and \`false\`, \`0\`, \`off\`, empty are the booleans. An optional parameter
that is empty counts as left out. Unknown parameters are ignored.

**Numbers** are whole numbers in decimal digits: \`1.5\`, \`1e1\` and \`+5\` return 422. Out of range, \`page\`, \`per_page\` and
\`days\` are clamped; every other number, such as \`priority_level=9\`, returns 422. An id in a path that no record has returns 404.

**Times** are ISO 8601 in UTC in JSON. Days and hours are cut in \`time_zone\`.

**Actions** answer 302 to every client, and lead to a page that shows a message once. A POST that a browser marks as coming
from another site (\`Sec-Fetch-Site\`, \`Origin\`) answers 403; a client that sends neither header needs no token.

**Errors** have an HTML page for browsers and \`{ "error": "..." }\` for programs:

| status | meaning |
|---|---|
| 401 | credentials are missing or wrong |
| 403 | the request comes from another site |
| 404 | there is no such record or path, or the page is switched off: the body names the option |
| 409 | not possible just now: the body says why |
| 413 | the body is too large |
| 422 | a parameter is missing or wrong: the body names each of them, and what is allowed |
| 429 | too many requests from this address; always JSON, with \`Retry-After\` |
| 500 | a query failed or the dashboard has a bug; the log of the application has the details |
| 503 | the database is unreachable, locked or not migrated, or a stream has too many readers; with \`Retry-After\` |

**Rate limit.** With \`enable_rate_limiting\`, an address may make \`rate_limit_per_minute\` requests (default ${rate_limit_per_minute.default}); every
answer then carries \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`.
`
}

function overview(kinds) {
  const rows = kinds.flatMap(({ of }) =>
    of.map(({ heading, anchor, text, needs }) => tableRow([`[\`${heading}\`](#${anchor})`, text, switches(needs)])),
  )
  return `| endpoint | what it does | switched on by |\n|---|---|---|\n${rows.join('\n')}\n`
}

function describe(endpoint, { method, formats, statuses }, describeInput) {
  // What only the router wants to know of a path segment: `:error_id{[0-9]+}`.
  const path = endpoint.path.replace(/\{[^}]*\}/g, '')
  const heading = `${method} ${path}`
  const needs = [endpoint.needs ?? []].flat()
  const in_path = [...path.matchAll(/:(\w+)/g)].map((match) => match[1])
  // Who acts is known from the credentials, whatever a form says.
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
    needs,
    formats: formats(endpoint),
    statuses: possible,
    parameters: parameters.map((parameter) => ({ ...parameter, in_path: in_path.includes(parameter.name) })),
  }
}

function pageFormats({ csv }) {
  return csv ? 'HTML, JSON, CSV' : 'HTML, JSON'
}

function section({ heading, text, needs, formats, statuses, parameters }) {
  const lines = [`### \`${heading}\``, '', `${text}.`]
  if (needs.length > 0) lines.push(`Needs ${switches(needs)}.`)
  lines.push('', `Answers: ${formats}; ${statuses.join(', ')}.`, '')
  if (parameters.length > 0) {
    lines.push('| parameter | value | required | default |', '|---|---|---|---|', ...parameters.map(parameterRow), '')
  }
  return lines.join('\n')
}

function parameterRow({ name, list, required, in_path, default: value, ...facts }) {
  return tableRow([
    `\`${list ? `${name}[]` : name}\``,
    list ? `list of: ${words(facts)}${list.max === null ? '' : `; at most ${list.max}`}` : noted(facts),
    in_path ? 'in the path' : required ? 'yes' : 'no',
    value === undefined ? '' : `\`${value}\``,
  ])
}

function noted({ note, ...facts }) {
  return note === undefined ? words(facts) : `${words(facts)}: ${note}`
}

function words({ type, min, max, clamped, allowed }) {
  if (allowed) return allowed.map((one) => `\`${one}\``).join(', ')
  if (type === 'id') return 'id of a record'
  if (type === 'time') return 'time in ISO 8601'
  if (type === 'day') return 'day as `YYYY-MM-DD`'
  if (type === 'boolean') return '`true` or `false`'
  if (type === 'text')
    return `text${max === undefined ? '' : `, ${clamped ? 'cut after' : 'at most'} ${max} characters`}`
  const kind = type === 'integer' ? 'whole number' : 'number'
  return min === undefined ? kind : `${kind} from ${min} to ${max}${clamped ? ', brought to the nearer limit' : ''}`
}

function switches(needs) {
  return needs.map((name) => `\`${name}\``).join(' and ')
}
