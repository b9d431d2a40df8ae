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
  const supported = possible.filter((framework) => !outdated(framework, host))
  for (const framework of supported) {
    const plan = framework.plan(host)
    if (plan) return plan
  }
  const [likeliest] = possible
  if (!likeliest || (likeliest === nodeHttp && !host.files.some(usesNodeHttp))) return unknown(host)
  const old = outdated(likeliest, host)
  return byHand(likeliest, host, old ?? notFound(likeliest, host))
}

function byHand({ name, package: packageName, lines }: Framework, { is_commonjs }: Host, reason: string): Plan {
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

function notFound({ name }: Framework, { files }: Host): string {
  if (files.length === 0) return `no file was found that starts the application: name it, faultboard init FILE`
  const looked = files.map(({ path }) => path).join(', ')
  return `no place was found in ${looked} where it is sure how ${name} is set up; another file may be named, faultboard init FILE`
}

function unknown({ files }: Host): Plan {
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
