import { describe, expect, test } from 'vitest'
// @ts-expect-error The scripts have no types.
import { countFile, filesToRetry, retryLines, slowestLines, total } from '../../scripts/test/vitest.mjs'

const failed = (file: string, name = 'works') => ({ file, name, reason: 'AssertionError: no' })

describe('Retry of failed test files', () => {
  test('retries at most two files', () => {
    expect(filesToRetry([failed('a.test.ts'), failed('a.test.ts', 'ends'), failed('b.test.ts')])).toEqual([
      'a.test.ts',
      'b.test.ts',
    ])
    expect(filesToRetry([failed('a.test.ts'), failed('b.test.ts'), failed('c.test.ts')])).toEqual([])
  })

  test('skips the retry for an error outside of any test', () => {
    expect(filesToRetry([failed('a.test.ts'), failed('vitest')])).toEqual([])
  })

  test('shows a retry in the summary with its result and the first failures', () => {
    const failures = [failed('a.test.ts'), failed('b.test.ts')]
    expect(retryLines(['a.test.ts', 'b.test.ts'], failures, [failed('b.test.ts')])).toEqual([
      'retried: a.test.ts (passed)',
      '  failed at first: a.test.ts > works (AssertionError: no)',
      'retried: b.test.ts (failed again)',
      '  failed at first: b.test.ts > works (AssertionError: no)',
    ])
  })
})

describe('List of slow tests', () => {
  const report = {
    name: `${process.cwd()}/test/x.test.ts`,
    status: 'passed',
    message: '',
    assertionResults: Array.from({ length: 30 }, (_, i) => ({
      ...{ status: 'passed', fullName: `test ${i}`, duration: i * 1000, failureMessages: [] },
    })),
  }

  test('lists the 20 slowest tests of all passes, slowest first', () => {
    const { tests, passed } = total([total([countFile(report)]), total([])])
    const lines = slowestLines(tests)
    expect(passed).toBe(30)
    expect(lines).toHaveLength(21)
    expect(lines.slice(0, 2)).toEqual(['slowest 20 tests:', '   29.0 s  test/x.test.ts > test 29'])
    expect(lines.at(-1)).toBe('   10.0 s  test/x.test.ts > test 10')
  })

  test('omits the list of slow tests when no test ran', () => {
    expect(slowestLines([])).toEqual([])
  })
})
