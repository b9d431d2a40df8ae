import { namesOf } from './code-style.js'
import { nameOfApp } from './created-app.js'
import { express } from './express.js'
import type { Framework, Plan } from './framework.js'
import { type Host, majorOf } from './host.js'
import { nest } from './nest.js'
import { next } from './next.js'
import { nitro, nuxt } from './nitro.js'
import { nodeHttp, usesNodeHttp } from './node-http.js'
import { fastify, h3, hono, koa } from './one-line-frameworks.js'

/** Every framework init knows by its package; one that brings another along stands before it. */
const FRAMEWORKS: readonly Framework[] = [next, nuxt, nitro, nest, fastify, koa, hono, express, h3]

/** What to do in this host; where that is not sure, the lines to add by hand and why. */
export function planFor(host: Host): Plan {
  const installed = FRAMEWORKS.filter(({ package: name }) => host.packages[name ?? ''] !== undefined)
  // A framework answers its own errors, so a listener around it would see none of them.
  const possible = installed.length > 0 ? installed : [nodeHttp]
  const supported = runsElsewhere(host) ? [] : possible.filter((framework) => !outdated(framework, host))
  for (const framework of supported) {
    const plan = framework.plan(host)
    if (plan) return plan
  }
  const [likeliest] = possible
  if (!likeliest || (likeliest === nodeHttp && !host.files.some(usesNodeHttp))) return unknown(host)
  const old = runsElsewhere(host) ?? outdated(likeliest, host)
  const made = madeIn(likeliest, host)
  return byHand(likeliest, host, old ?? (made ? unsure(made) : notFound(likeliest, host)), made?.name)
}

/** The file in which the application is made and what it is called there, where that is all that is sure. */
function madeIn({ call, package: packageName }: Framework, { files }: Host): { path: string; name: string } | null {
  const found = files.flatMap((file) => {
    const pattern = call?.(namesOf(file, packageName ?? ''))
    const name = pattern === undefined ? null : nameOfApp(file, pattern)
    return name === null ? [] : [{ path: file.path, name }]
  })
  return found.length === 1 ? (found[0] ?? null) : null
}

function byHand(framework: Framework, { is_commonjs }: Host, reason: string, app = 'app'): Plan {
  const { name, package: packageName } = framework
  const lines = framework.lines.map((line) => line.replace(/^app(?=\.)/, () => app))
  const own = is_commonjs ? lines.map(required) : lines
  const found = packageName === null ? name : `${name} in package.json`
  return { found, changes: [], present: [], by_hand: [{ reason, lines: own }] }
}

function required(line: string): string {
  return line.replace(/^import (\{.*\}) from ('.*')$/, 'const $1 = require($2)')
}

function outdated({ name, package: packageName, least_major = 0 }: Framework, { packages }: Host): string | null {
  const range = packages[packageName ?? '']
  const major = majorOf(range)
  return major !== null && major < least_major
    ? `${name} ${range} is older than what there is an adapter for, ${name} ${least_major}`
    : null
}

/** Its adapters need Node.js, and an application of Hono for one may be meant for something else. */
function runsElsewhere({ packages }: Host): string | null {
  const isForWorkers = packages.wrangler !== undefined && packages['@hono/node-server'] === undefined
  return isForWorkers
    ? 'by wrangler in package.json it runs in Cloudflare Workers, where Faultboard does not; these are for Node.js'
    : null
}

function unsure({ path, name }: { path: string; name: string }): string {
  return `it is not sure where they belong in ${path}, in which the application is called ${name}`
}

function notFound({ name }: Framework, { files }: Host): string {
  if (files.length === 0) return `no file was found that starts the application: name it, faultboard init FILE`
  const looked = files.map(({ path }) => path).join(', ')
  return `no place was found in ${looked} where it is sure how ${name} is set up; another file may be named, faultboard init FILE`
}

function unknown({ files, workspaces }: Host): Plan {
  const below = workspaces.flatMap(({ folder, packages }) => {
    const framework = FRAMEWORKS.find(({ package: name }) => packages[name ?? ''] !== undefined)
    return framework ? [{ folder, name: framework.name }] : []
  })
  if (below.length > 0) {
    return {
      found: `packages with ${[...new Set(below.map(({ name }) => name))].join(', ')}`,
      changes: [],
      present: [],
      by_hand: [
        {
          reason: 'this is the root of several packages, and init is run in the one that is meant',
          lines: below.map(({ folder, name }) => `cd ${folder} && npx faultboard init   # ${name}`),
        },
      ],
    }
  }
  const reason =
    files.length === 0 ? 'nothing that starts an application was found here' : `no framework was recognised`
  return {
    found: 'no framework',
    changes: [],
    present: [],
    by_hand: [
      {
        reason,
        lines: ["import { Tracker } from 'faultboard'", 'Tracker.report(error) // wherever an error is at hand'],
      },
    ],
  }
}
