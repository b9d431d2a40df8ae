import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FrameVariables } from '../../../src/model/stacks/frame-variables.js'
import { describeEachRuntime, type Runtime } from '../../support/processes/runtimes.js'
import {
  type Application,
  createApplication,
  FORMS,
  GENEROUS_LIMITS,
  type ProcessResult,
  parseOutput,
  type RecordedError,
  run,
  settingsFor,
  shopLineNumber,
  TSX,
} from './fixtures/hosts.js'

interface DriveOutput {
  errors: RecordedError[]
  dropped: Record<string, number>
  listening: number | null
  globals: string[]
}

const LINES = [{ sku: 'tea', price: 4 }]

interface Failure {
  message: RegExp
  name: string | null
  /** Text on the line that throws. */
  line: string
  variables: Record<string, unknown>
}

const FAILURES: Failure[] = [
  {
    message: /^a discount of 250/,
    name: 'total',
    line: 'if (reduced < 0) throw',
    variables: { discount: 250, rate: 2.5, line: LINES[0], reduced: -6 },
  },
  {
    message: /^after an await$/,
    name: 'after_await',
    line: "'after an await'",
    variables: { before: 'paid', receipt: { number: 12, token: '[FILTERED]', before: 'paid' } },
  },
  {
    message: /undefined \(reading 'name'\)/,
    name: 'type_error',
    line: "[wanted as 'name']",
    variables: { order: { id: 8, lines: LINES }, wanted: 'name' },
  },
  { message: /JSON/, name: 'json', line: 'JSON.parse(', variables: { text: '{"total": 12' } },
  { message: /Expected number/, name: 'library', line: 'return parse(', variables: { input: { total: 'twelve' } } },
  {
    message: /^out of stock$/,
    name: 'text',
    line: 'throw reason',
    // Renamed in the bundle, but redacted by its original name.
    variables: { reason: 'out of stock', sku: 'tea', api_key: '[FILTERED]' },
  },
  { message: /^attempt 3 was refused$/, name: 'rejected', line: 'await Promise.reject', variables: { attempt: 3 } },
  { message: /^in a timer$/, name: null, line: "'in a timer'", variables: { waited: { ms: 1 } } },
  {
    message: /^thrown on from inner$/,
    name: 'thrown_on',
    line: 'throw new Error(`thrown on',
    variables: { inner_step: 'inner', step: 'outer' },
  },
]

const BUILT_FORMS = Object.keys(FORMS).filter((form) => form !== 'tsx')

const builtApplication = createApplication(...BUILT_FORMS)
afterAll(() => rmSync(builtApplication.root, { recursive: true, force: true }))

describeEachRuntime('local variables', (runtime) => {
  describeProcess(runtime, BUILT_FORMS, builtApplication, [])
})

describeEachRuntime(
  'local variables with a loader',
  (runtime) => {
    const application = createApplication('tsx')
    afterAll(() => rmSync(application.root, { recursive: true, force: true }))
    describeProcess(runtime, ['tsx'], application, TSX)
  },
  { onlyNewest: true },
)

function describeProcess(runtime: Runtime, forms: string[], { root, shops }: Application, flags: string[]): void {
  describe(`in a process with ${forms.join(', ')}`, () => {
    let result: ProcessResult
    let output: DriveOutput

    beforeAll(async () => {
      const folder = join(root, `data-${runtime.major}`)
      mkdirSync(folder)
      const storage = settingsFor(folder, { ...GENEROUS_LIMITS, enable_instance_variables: true })
      const settings = { ...storage, project_root: root }
      result = await run('drive.mjs', { shops, settings }, { runtime, root, flags })
      output = parseOutput<DriveOutput>(result)
    }, 60_000)

    test('opens no port, adds no global variable and prints nothing', () => {
      expect([1, null]).toContain(output.listening)
      expect(output.globals).toEqual([])
      expect(result.stderr).toBe('')
      expect(output.dropped).toEqual({})
    })

    describe.each(forms)('in %s', (form) => {
      const findError = (message: RegExp): RecordedError => {
        const ofForm = output.errors.filter(({ request_url }) => request_url.includes(`/${encodeURIComponent(form)}/`))
        const all = ofForm.filter((error) => message.test(error.message))
        expect(all.map((error) => error.message)).toHaveLength(1)
        return all[0] as RecordedError
      }

      test.each(FAILURES)('reads the variables at the throw: $message', ({ message, name, line, variables }) => {
        const first = findError(message).local_variables?.[0]
        expect(first?.variables).toMatchObject(variables)
        if (form === 'ES modules' || form === 'CommonJS') expect(first?.file).toMatch(/^dist\/(esm|cjs)\/shop/)
        else expect([first?.file, first?.line_number]).toEqual(['src/shop.ts', shopLineNumber(line)])
        if (name !== null) expect(functionName(first)).toBe(name)
      })

      test('omits variables without a value', () => {
        const variables = findError(/^a discount of 250/).local_variables?.[0]?.variables ?? {}
        // Node.js 20 does not distinguish uninitialized variables from undefined.
        expect([undefined, '[undefined]']).toContain(variables.never_reached)
      })

      test('reads the variables of callers and of `this`', () => {
        const [first, caller] = findError(/^a discount of 250/).local_variables ?? []
        expect(first?.instance_variables).toMatchObject({
          order: { id: 7, lines: LINES },
          currency: 'EUR',
          password: '[FILTERED]',
        })
        expect(caller?.variables).toMatchObject({ cart: { currency: 'EUR', password: '[FILTERED]' } })
        expect(caller?.instance_variables).toBeUndefined()
      })

      test('reports the same lines as the stack', () => {
        const { backtrace, local_variables } = findError(/^a discount of 250/)
        const [first] = local_variables ?? []
        expect(backtrace[0]).toContain(`${first?.file}:${first?.line_number}:`)
      })

      test('reads the variables of the cause if the error itself was never thrown', () => {
        expect(findError(/^wrapped and never thrown$/).local_variables?.[0]?.variables).toMatchObject({ sku: 'coffee' })
      })

      test('records an error without variables if it was never thrown', () => {
        expect(findError(/^only made$/).local_variables).toBeNull()
      })
    })
  })
}

function functionName(frame: FrameVariables | undefined): string {
  return (frame?.function ?? '').replace(/^.*\./, '')
}
