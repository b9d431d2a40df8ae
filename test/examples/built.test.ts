import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  CREDENTIALS,
  cleanUp,
  createApplication,
  dashboardAt,
  isInstalled,
  run,
  serve,
} from '../adapters/host-process.js'

afterAll(cleanUp)

/** Clears the FAULTBOARD_… credentials, so that those in the code of the example are used. */
const ENV = {
  DASHBOARD_PASSWORD: CREDENTIALS.password,
  FAULTBOARD_DASHBOARD_USERNAME: '',
  FAULTBOARD_DASHBOARD_PASSWORD: '',
  ASTRO_TELEMETRY_DISABLED: '1',
}

interface Example {
  name: string
  packageName: string
  build?: string[]
  /** A path that starts with `./` belongs to the application, others to test/hosts/node_modules. */
  start: string[]
  /** Request that fails with `message`. */
  fails: (origin: string) => Promise<unknown>
  message: string
  /** Request that fails because of the client. */
  missing: string
}

const ORDERS = {
  fails: (origin: string) => fetch(`${origin}/orders`),
  message: 'Could not load orders',
  missing: '/nowhere',
}
const GRAPHQL = {
  ...ORDERS,
  fails: (origin: string) => query(origin, '{ orders }'),
  missing: `/graphql?query=${encodeURIComponent('{ nothing }')}`,
}

const EXAMPLES: Example[] = [
  {
    name: 'nitro',
    packageName: 'nitropack',
    build: ['nitropack/dist/cli/index.mjs', 'build'],
    start: ['./.output/server/index.mjs'],
    ...ORDERS,
  },
  {
    name: 'sveltekit',
    packageName: '@sveltejs/kit',
    build: ['vite/bin/vite.js', 'build'],
    start: ['./build/index.js'],
    ...ORDERS,
  },
  {
    name: 'astro',
    packageName: 'astro',
    build: ['astro/astro.js', 'build'],
    start: ['./dist/server/entry.mjs'],
    ...ORDERS,
  },
  {
    name: 'react-router',
    packageName: '@react-router/dev',
    build: ['@react-router/dev/bin.js', 'build'],
    start: ['@react-router/serve/bin.js', 'build/server/index.js'],
    ...ORDERS,
  },
  {
    name: 'elysia',
    packageName: 'elysia',
    start: ['./app.js'],
    ...ORDERS,
    fails: (origin) => fetch(`${origin}/orders/7`),
    message: 'Could not load the order',
    missing: '/orders/0',
  },
  {
    name: 'trpc',
    packageName: '@trpc/server',
    start: ['./app.js'],
    ...ORDERS,
    fails: (origin) => fetch(`${origin}/trpc/orders`),
    missing: '/trpc/nothing',
  },
  { name: 'graphql-yoga', packageName: 'graphql-yoga', start: ['./app.js'], ...GRAPHQL },
  { name: 'apollo', packageName: '@apollo/server', start: ['./app.js'], ...GRAPHQL },
]

describe.each(EXAMPLES)('examples/$name', ({ name, packageName, build, start, fails, message, missing }) => {
  const reason = isInstalled(packageName) ? '' : ` (skipped: ${packageName} is not installed in test/hosts)`

  test.skipIf(reason !== '')(
    `shows the error of the example on the dashboard, where forms work${reason}`,
    { timeout: 240_000 },
    async () => {
      const folder = createApplication(`examples/${name}`)
      symlinkSync(resolve('node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'))
      if (build) await run(folder, build, ENV)
      const program = start.map((word) => (word.startsWith('./') ? join(folder, word) : word))
      const { origin } = await serve(folder, program, ENV, '/error_dashboard/')
      await fetch(`${origin}${missing}`)
      await fails(origin)
      const dashboard = dashboardAt(`${origin}/error_dashboard`)
      const found = await dashboard.waitForErrors('')
      expect(found).toMatchObject([{ message, occurrence_count: 1, application_name: `faultboard-example-${name}` }])
      const form = {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ assigned_to: 'eve@example.org' }),
      }
      expect((await dashboard.get(`/errors/${found[0]?.id}/assign`, form)).status).toBe(302)
    },
  )
})

function query(origin: string, text: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${origin}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: text }) })
}
