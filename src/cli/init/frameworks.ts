import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OLDEST_SUPPORTED, type SupportedPackage } from '../../config/supported-packages.js'
import { type Host, majorVersion } from './host.js'

/** Code to insert in one place in the host. */
export interface Step {
  /** Null if the file that creates the application was not found. */
  readonly file: string | null
  readonly place: string
  readonly code: readonly string[]
}

export interface Framework {
  readonly name: string
  /** The dependency that identifies the framework, or null for plain `node:http`. */
  readonly package: SupportedPackage | null
  steps(host: Host, entry: string | null): Step[]
  dashboardPath?(host: Host): string
  /** Further setup that depends on the environment. */
  readonly note?: string
}

const WITH_IMPORTS = 'with the other imports'
const NEW_FILE = 'a new file'
const NITRO_NOTE =
  'With SQLite on Node.js before 22.16, the build must include the SQLite driver: docs/frameworks.md#nitro-and-nuxt.'

/** Lists a framework before the frameworks that it installs itself. */
const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'Next.js',
    package: 'next',
    steps: nextSteps,
    dashboardPath: (host) => (appRouter(host) === undefined ? '/api/error_dashboard' : '/error_dashboard'),
  },
  {
    name: 'Nuxt',
    package: 'nuxt',
    steps: (host) => nitroSteps(host, 'server/plugins'),
    note: NITRO_NOTE,
  },
  {
    name: 'Nitro',
    package: 'nitropack',
    steps: (host) => nitroSteps(host, 'plugins'),
    note: NITRO_NOTE,
  },
  {
    name: 'NestJS',
    package: '@nestjs/core',
    steps: (host, file) => [
      { file, place: WITH_IMPORTS, code: [importLine(host, ['faultboard'], 'nest')] },
      {
        file,
        place: 'around NestFactory.create, before listen',
        code: ['const app = faultboard(await NestFactory.create(AppModule))'],
      },
    ],
  },
  {
    name: 'Fastify',
    package: 'fastify',
    steps: fastifySteps,
  },
  {
    name: 'Koa',
    package: 'koa',
    steps: singleCallFramework(
      'koa',
      'app.use(faultboard())',
      'before the routes, after middleware that turns errors into responses',
    ),
  },
  {
    name: 'Hono',
    package: 'hono',
    steps: singleCallFramework(
      'hono',
      'app.use(faultboard())',
      'after app is created, before other middleware and the routes',
    ),
  },
  {
    name: 'Express',
    package: 'express',
    steps: (host, file) => [
      { file, place: WITH_IMPORTS, code: [importLine(host, ['capture', 'dashboard'], 'express')] },
      { file, place: 'after app is created, before the routes', code: ['app.use(dashboard())'] },
      { file, place: 'after the routes, before your own error handlers', code: ['app.use(capture())'] },
    ],
  },
  {
    name: 'h3',
    package: 'h3',
    steps: singleCallFramework(
      'h3',
      'app.register(faultboard())',
      'after app is created, before other plugins and the routes',
    ),
  },
]

const NODE_HTTP: Framework = {
  name: 'node:http',
  package: null,
  steps: (host, file) => [
    { file, place: WITH_IMPORTS, code: [importLine(host, ['withFaultboard'], 'node')] },
    { file, place: 'around the request listener', code: ['const server = createServer(withFaultboard(listener))'] },
  ],
}

/** The framework of a host, or null if no dependency identifies one and no source uses `node:http`. */
export function detectFramework(host: Host, usesNodeHttp: boolean): Framework | null {
  const installed = FRAMEWORKS.find(({ package: name }) => name !== null && host.packages[name] !== undefined)
  return installed ?? (usesNodeHttp ? NODE_HTTP : null)
}

/** Libraries with a recipe in docs/frameworks.md: package, name and section. */
const RECIPES: readonly (readonly [string, string, string])[] = [
  ['@sveltejs/kit', 'SvelteKit', 'sveltekit'],
  ['astro', 'Astro', 'astro'],
  ['@react-router/node', 'React Router', 'react-router'],
  ['elysia', 'Elysia', 'elysia'],
  ['@trpc/server', 'tRPC', 'trpc'],
  ['graphql-yoga', 'GraphQL Yoga', 'graphql-yoga'],
  ['@apollo/server', 'Apollo Server', 'apollo-server'],
]

/** Lines about libraries of the host that turn errors into responses themselves. */
export function recipeLines({ packages }: Host): string[] {
  return RECIPES.filter(([dependency]) => packages[dependency] !== undefined).map(
    ([, name, section]) => `${name} needs code in its error hook: docs/frameworks.md#${section} in the package.`,
  )
}

/** The reason why Faultboard cannot run in this host, or null. */
export function unsupportedReason({ name, package: dependency }: Framework, host: Host): string | null {
  const range = host.packages[dependency ?? '']
  const major = majorVersion(range)
  const oldest = dependency === null ? null : OLDEST_SUPPORTED[dependency]
  if (major !== null && oldest !== null && major < Number.parseInt(oldest, 10))
    return `${name} ${range} is not supported. Upgrade to ${name} ${oldest} or later.`
  const runsOnWorkers = host.packages.wrangler !== undefined && host.packages['@hono/node-server'] === undefined
  return runsOnWorkers ? 'Faultboard needs Node.js, and wrangler deploys to Cloudflare Workers.' : null
}

/** A framework that needs an import and one call. */
function singleCallFramework(subpath: string, call: string, place: string): Framework['steps'] {
  return (host, file) => [
    { file, place: WITH_IMPORTS, code: [importLine(host, ['faultboard'], subpath)] },
    { file, place, code: [call] },
  ]
}

/** The application of fastify-cli is a plugin that receives its instance as `fastify`. */
function fastifySteps(host: Host, entry: string | null): Step[] {
  const isPlugin = host.packages['fastify-cli'] !== undefined && entry === null
  return isPlugin
    ? [
        { file: host.sources[0] ?? null, place: WITH_IMPORTS, code: [importLine(host, ['faultboard'], 'fastify')] },
        {
          file: host.sources[0] ?? null,
          place: 'at the start of the exported plugin',
          code: ['fastify.register(faultboard)'],
        },
      ]
    : singleCallFramework(
        'fastify',
        'app.register(faultboard)',
        'after app is created, before other plugins and the routes',
      )(host, entry)
}

function importLine({ usesCommonjs }: Host, names: readonly string[], subpath: string): string {
  const list = `{ ${names.join(', ')} }`
  return usesCommonjs
    ? `const ${list} = require('faultboard/${subpath}')`
    : `import ${list} from 'faultboard/${subpath}'`
}

function nextSteps(host: Host): Step[] {
  const app = appRouter(host)
  const pages = existingPath(host, ['pages', 'src/pages']) ?? 'pages'
  const parent = existingPath(host, ['src/app', 'src/pages']) === undefined ? '' : 'src/'
  const extension = host.usesTypescript ? 'ts' : 'js'
  const configs = ['ts', 'mts', 'mjs', 'js'].map((end) => `next.config.${end}`)
  const config = existingPath(host, configs) ?? 'next.config.mjs'
  // webpack, the bundler of Next.js 15, minifies without source maps by default, so each build would regroup errors.
  const needsMaps = majorVersion(host.packages.next) === 15
  const dashboard = app
    ? {
        file: `${app}/error_dashboard/[[...path]]/route.${extension}`,
        code: ["import { dashboard } from 'faultboard/next'", '', 'export const { GET, HEAD, POST } = dashboard()'],
      }
    : {
        file: `${pages}/api/error_dashboard/[[...path]].${extension}`,
        code: ["import { pagesDashboard } from 'faultboard/next'", '', 'export default pagesDashboard()'],
      }
  return [
    {
      file: config,
      place: 'in the exported object',
      code: [
        "serverExternalPackages: ['faultboard'],",
        ...(needsMaps ? ['experimental: { serverSourceMaps: true },'] : []),
      ],
    },
    {
      file: `${parent}instrumentation.${extension}`,
      place: NEW_FILE,
      code: ["export { onRequestError, register } from 'faultboard/next'"],
    },
    { ...dashboard, place: NEW_FILE },
  ]
}

function appRouter(host: Host): string | undefined {
  return existingPath(host, ['app', 'src/app'])
}

function nitroSteps(host: Host, plugins: string): Step[] {
  return [
    {
      file: `${plugins}/faultboard.${host.usesTypescript ? 'ts' : 'js'}`,
      place: NEW_FILE,
      code: ["export { default } from 'faultboard/nitro'"],
    },
  ]
}

function existingPath({ folder }: Host, paths: readonly string[]): string | undefined {
  return paths.find((path) => existsSync(join(folder, path)))
}
