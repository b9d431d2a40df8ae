import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { askChild } from '../harness/child.mjs'
import { interleaved, median } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const REGISTER = new URL('../../dist/register.js', import.meta.url).href

const SUBJECTS = ['off', 'on']
const MEGABYTE = 2 ** 20
const MOST_WITHOUT_THROW = 1.25
const MOST_GROWTH_MB = 3
const WHAT = {
  thrown: 'an exception that is thrown and swallowed',
  parsed: 'one that JSON.parse throws',
  guarded: 'a try in which nothing is thrown',
  promised: 'a promise and a handler in place',
  named: 'a promise and a handler by its name',
}

/** Swallowed exceptions: what one costs, what code costs that throws none, what a start costs, and what is left behind. */
export async function* swallowed({ quick }) {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-swallowed-'))
  try {
    const task = prepare(folder, quick)
    const results = await interleaved(quick ? 2 : 5, SUBJECTS, (subject) => ask(folder, subject, task))
    const figure = (subject, what) => median(results.get(subject).map((round) => round[what]))
    yield { title: 'Swallowed exceptions: by the nanosecond', rows: Object.keys(WHAT).map((what) => one(what, figure)) }
    yield {
      title: 'Swallowed exceptions: the start, and a million of them',
      rows: await rest(folder, quick, task, figure),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function one(what, figure) {
  const [off, on] = SUBJECTS.map((subject) => figure(subject, what))
  const limit = what === 'guarded' ? { most: MOST_WITHOUT_THROW } : null
  return row({ name: WHAT[what], figure: on, unit: 'ns', ratio: on / off, against: 'while it is off', limit })
}

async function rest(folder, quick, task, figure) {
  const count = quick ? 50_000 : 1_000_000
  const { growth } = await ask(folder, 'on', { ...task, swallowed: count })
  const megabytes = statSync(fileURLToPath(task.large)).size / MEGABYTE
  const per_megabyte = (figure('on', 'load_ms') - figure('off', 'load_ms')) / megabytes
  return [
    row({ name: 'loading a megabyte of the host, more than while it is off', figure: per_megabyte, unit: 'ms' }),
    row({
      name: `${count.toLocaleString('en-US')} swallowed: growth of the heap`,
      figure: growth / MEGABYTE,
      unit: 'MB',
      limit: { most: MOST_GROWTH_MB },
    }),
  ]
}

/** A project of its own, because only what lies below its root is marked. */
function prepare(folder, quick) {
  const [subject, large] = ['subject.mjs', 'large.mjs'].map((name) => join(folder, name))
  copyFileSync(file('swallowed-subject.mjs'), subject)
  writeFileSync(join(folder, 'package.json'), '{"name":"bench"}')
  writeFileSync(large, Array.from({ length: 100 }, (_, i) => partNumber(i)).join(''))
  return { subject: pathToFileURL(subject).href, large: pathToFileURL(large).href, times: quick ? 5000 : 20_000 }
}

const partNumber = (i) =>
  `export const part${i} = {\n${Array.from({ length: 50 }, (_, j) => methodNumber(j)).join('')}}\n`

const methodNumber = (i) => `async load${i}(order, options = {}) {
  try {
    if (!order.id) throw new TypeError(\`no order \${order.id}\`)
    return await options.fetch(order.id)
  } catch (error) {
    options.log?.(error)
    return { items: [], total: 0, currency: 'EUR' }
  }
},
`

async function ask(folder, subject, task) {
  const variables = {
    FAULTBOARD_DATABASE: `sqlite:${join(folder, 'bench.sqlite3')}`,
    FAULTBOARD_SPOOL_PATH: join(folder, 'spool'),
    FAULTBOARD_PROJECT_ROOT: folder,
    FAULTBOARD_DASHBOARD_USERNAME: 'bench',
    FAULTBOARD_DASHBOARD_PASSWORD: 'a password for the bench',
    FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: String(subject === 'on'),
  }
  Object.assign(process.env, variables)
  try {
    return await askChild(file('swallowed-child.mjs'), task, { flags: ['--expose-gc', '--import', REGISTER] })
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}
