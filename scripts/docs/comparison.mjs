import { tableRow } from './table-row.mjs'

/** Products in page order, with what each offers its users. */
const PRODUCTS = {
  Faultboard: {
    package: null,
    stores: "in the host's database",
    offers: 'groups, triage, alerts, analytics and diagnostics, on a dashboard inside the host',
  },
  Errsole: {
    package: 'errsole',
    stores: 'in a database of your choice',
    offers: 'searchable logs on a dashboard with its own port, alerts about crashes; does not group errors',
  },
  '@sentry/node': {
    package: '@sentry/node',
    stores: "on Sentry's servers, or your own Sentry installation",
    offers: 'groups, triage, alerts, tracing and profiling',
  },
  Honeybadger: {
    package: '@honeybadger-io/js',
    stores: "on Honeybadger's servers",
    offers: 'groups, triage, alerts and uptime checks',
  },
  Bugsnag: {
    package: '@bugsnag/node',
    stores: "on BugSnag's servers",
    offers: 'groups, triage, alerts and release stability',
  },
  Rollbar: {
    package: 'rollbar',
    stores: "on Rollbar's servers",
    offers: 'groups, triage, alerts and workflows',
  },
  pino: {
    package: 'pino',
    stores: 'as lines of JSON',
    offers: 'nothing else; a logger is the lower bound of the cost',
  },
}
const FIGURES = ['start', 'memory after the start', 'one error', 'one successful request']

/** Renders docs/comparison.md from the last accepted run of the suite `comparison`. */
export function comparison({ suites }) {
  const { accepted_at, machine, tables } = suites.comparison
  const rows = new Map(tables.flatMap(({ rows }) => rows).map((row) => [row.name, row]))
  const measured = Object.keys(PRODUCTS).filter((name) => rows.has(`${name}: start`))
  const lines = measured.map((name) =>
    tableRow([productText(name, machine), ...FIGURES.map((figure) => figureText(rows.get(`${name}: ${figure}`)))]),
  )
  const features = Object.entries(PRODUCTS).map(([name, { stores, offers }]) => tableRow([name, stores, offers]))
  return `# Comparison with other products

<!-- Generated from bench/accepted.json by \`npm run docs\`. Do not edit. -->

What each product costs the host, measured in one run: \`npm run bench -- comparison\`, ${accepted_at.slice(0, 10)},
Node.js ${machine.node.slice(1)}, ${machine.cores} cores.

| | start | memory after the start | one error | one successful request |
|---|---|---|---|---|
${lines.join('\n')}

All times are CPU time in the process of the host. Each product runs in its own process with its usual setup, without deduplication and rate limits.
An error has 10 frames and counts until it is stored (Faultboard, Errsole), sent to a receiver on loopback, or discarded (pino).
Faultboard writes it to SQLite and commits before it continues. A request is compared with the same process before the product was
loaded, on Express 5; pino and Errsole add nothing to it, so their figures show the noise.

What you get for it:

| | errors are stored | users get |
|---|---|---|
${features.join('\n')}

[Performance](performance.md) has all other figures.
`
}

function productText(name, { faultboard, packages }) {
  const { package: packageName } = PRODUCTS[name]
  return `${name} ${packageName === null ? faultboard : packages[packageName]}`
}

function figureText({ figure, unit }) {
  if (unit === 'times bare') return `${figure.toFixed(2)} ×`
  const digits = figure >= 100 ? 0 : figure >= 10 ? 1 : 2
  return `${figure.toLocaleString('en-US', { maximumFractionDigits: digits })} ${unit}`
}
