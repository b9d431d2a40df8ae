import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runChild } from '../harness/child.mjs'
import { interleaved, median } from '../harness/measure.mjs'
import { row } from '../harness/report.mjs'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const REGISTER = new URL('../../dist/register.js', import.meta.url).href

const SUBJECTS = ['off', 'on']
const MEGABYTE = 2 ** 20
const MAX_RATIO_WITHOUT_THROW = 1.25
const MAX_GROWTH_MB = 3
const CASE_NAMES = {
  thrown: 'thrown and swallowed exception',
  parsed: 'exception thrown by JSON.parse',
  guarded: 'try block without a throw',
  promised: 'promise with an inline handler',
  named: 'promise with a handler passed by name',
}

/** Measures swallowed exceptions: cost per exception, cost without exceptions, start time and memory growth. */
export async function* swallowed({ quick }) {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-bench-swallowed-'))
  try {
    const task = createProject(folder, quick)
    let results
    const figure = (subject, caseName) => median(results.get(subject).map((round) => round[caseName]))
    yield {
      title: 'Swallowed exceptions: cost',
      async measure() {
        results = await interleaved(quick ? 2 : 4, SUBJECTS, (subject) => measureHost(folder, subject, task))
        return Object.keys(CASE_NAMES).map((caseName) => costRow(caseName, figure))
      },
    }
    yield {
      title: 'Swallowed exceptions: start and memory',
      measure: () => startAndMemoryRows(folder, quick, task, figure),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function costRow(caseName, figure) {
  const [off, on] = SUBJECTS.map((subject) => figure(subject, caseName))
  const limit = caseName === 'guarded' ? { max: MAX_RATIO_WITHOUT_THROW } : null
  return row({
    name: CASE_NAMES[caseName],
    figure: on,
    unit: 'ns',
    ratio: on / off,
    against: 'off',
    limit,
    better: 'lower',
  })
}

async function startAndMemoryRows(folder, quick, task, figure) {
  const count = quick ? 50_000 : 1_000_000
  const { growth } = await measureHost(folder, 'on', { ...task, swallowed: count })
  const megabytes = statSync(fileURLToPath(task.large)).size / MEGABYTE
  const per_megabyte = (figure('on', 'load_ms') - figure('off', 'load_ms')) / megabytes
  return [
    row({ name: 'additional load time per megabyte of host code', figure: per_megabyte, unit: 'ms' }),
    row({
      name: `${count.toLocaleString('en-US')} swallowed: heap growth`,
      figure: growth / MEGABYTE,
      unit: 'MB',
      limit: { max: MAX_GROWTH_MB },
    }),
  ]
}

/** Creates a project, because only files below its root are instrumented. */
function createProject(folder, quick) {
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

async function measureHost(folder, subject, task) {
  const variables = {
    FAULTBOARD_DATABASE: `sqlite:${join(folder, 'bench.sqlite3')}`,
    FAULTBOARD_SPOOL_PATH: join(folder, 'spool'),
    FAULTBOARD_PROJECT_ROOT: folder,
    FAULTBOARD_DASHBOARD_USERNAME: 'bench',
    FAULTBOARD_DASHBOARD_PASSWORD: 'bench-password',
    FAULTBOARD_DETECT_SWALLOWED_EXCEPTIONS: String(subject === 'on'),
  }
  Object.assign(process.env, variables)
  try {
    return await runChild(file('swallowed-child.mjs'), task, { flags: ['--expose-gc', '--import', REGISTER] })
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}
