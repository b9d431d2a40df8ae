import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FrameVariables } from '../../../src/model/stacks/frame-variables.js'
import { describeEachRuntime, type Runtime } from '../../support/processes/runtimes.js'
import {
  answerOf,
  applicationOf,
  type End,
  FORMS,
  lineOf,
  type Recorded,
  ROOMY,
  run,
  settingsFor,
  TSX,
} from './fixtures/hosts.js'

interface Answer {
  errors: Recorded[]
  dropped: Record<string, number>
  listening: number | null
  globals: string[]
}

const LINES = [{ sku: 'tea', price: 4 }]

interface Failure {
  message: RegExp
  name: string | null
  /** What stands in the line of the throw. */
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
    // In the bundle it has another name, and is a secret all the same.
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

const PLAIN = Object.keys(FORMS).filter((form) => form !== 'tsx')

describeEachRuntime('local variables', (runtime) => {
  inOneProcess(runtime, PLAIN, [])
  inOneProcess(runtime, ['tsx'], TSX)
})

function inOneProcess(runtime: Runtime, forms: string[], flags: string[]): void {
  describe(`in a process with ${forms.join(', ')}`, () => {
    let end: End
    let answer: Answer
    const application = applicationOf(...forms)

    beforeAll(async () => {
      const { root, shops } = application
      const settings = settingsFor(root, { ...ROOMY, enable_instance_variables: true })
      end = await run('drive.mjs', { shops, settings }, { runtime, root, flags })
      answer = answerOf<Answer>(end)
    }, 60_000)

    afterAll(() => rmSync(application.root, { recursive: true, force: true }))

    test('open no port, leave nothing on the global object and say nothing', () => {
      expect([1, null]).toContain(answer.listening)
      expect(answer.globals).toEqual([])
      expect(end.stderr).toBe('')
      expect(answer.dropped).toEqual({})
    })

    describe.each(forms)('in %s', (form) => {
      const found = (message: RegExp): Recorded => {
        const ofForm = answer.errors.filter(({ request_url }) => request_url.includes(`/${encodeURIComponent(form)}/`))
        const all = ofForm.filter((error) => message.test(error.message))
        expect(all.map((error) => error.message)).toHaveLength(1)
        return all[0] as Recorded
      }

      test.each(FAILURES)('are those of the place of the throw: $message', ({ message, name, line, variables }) => {
        const first = found(message).local_variables?.[0]
        expect(first?.variables).toMatchObject(variables)
        if (form === 'ES modules' || form === 'CommonJS') expect(first?.file).toMatch(/^dist\/(esm|cjs)\/shop/)
        else expect([first?.file, first?.line_number]).toEqual(['src/shop.ts', lineOf(line)])
        if (name !== null) expect(bare(first)).toBe(name)
      })

      test('hold nothing that has no value yet', () => {
        const variables = found(/^a discount of 250/).local_variables?.[0]?.variables ?? {}
        // Node.js 20 does not tell what has no value yet from what is undefined.
        expect([undefined, '[undefined]']).toContain(variables.never_reached)
      })

      test('are those of the callers too, and of `this`', () => {
        const [first, caller] = found(/^a discount of 250/).local_variables ?? []
        expect(first?.instance_variables).toMatchObject({
          order: { id: 7, lines: LINES },
          currency: 'EUR',
          password: '[FILTERED]',
        })
        expect(caller?.variables).toMatchObject({ cart: { currency: 'EUR', password: '[FILTERED]' } })
        expect(caller?.instance_variables).toBeUndefined()
      })

      test('stand at lines that the stack shows as well', () => {
        const { backtrace, local_variables } = found(/^a discount of 250/)
        const [first] = local_variables ?? []
        expect(backtrace[0]).toContain(`${first?.file}:${first?.line_number}:`)
      })

      test('are those of the cause where the error itself was never thrown', () => {
        expect(found(/^wrapped and never thrown$/).local_variables?.[0]?.variables).toMatchObject({ sku: 'coffee' })
      })

      test('are missing where nothing was thrown, and the error is recorded', () => {
        expect(found(/^only made$/).local_variables).toBeNull()
      })
    })
  })
}

function bare(frame: FrameVariables | undefined): string {
  return (frame?.function ?? '').replace(/^.*\./, '')
}
