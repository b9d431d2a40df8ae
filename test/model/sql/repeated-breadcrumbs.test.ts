import { describe, expect, test } from 'vitest'
import { repeatedStatements } from '../../../src/model/sql/repeated-breadcrumbs.js'

const sql = (message: string, system?: string) => ({
  category: 'sql',
  message,
  duration_ms: 2,
  metadata: system ? { system } : {},
})

describe('repeatedStatements', () => {
  test('counts queries, but no transaction statements', () => {
    const steps = Array.from({ length: 6 }, (_, i) => [
      sql('BEGIN'),
      sql(`select * from users where id = ${i}`, 'postgres'),
      { category: 'http', message: 'GET /' },
      sql('commit'),
    ]).flat()
    expect(repeatedStatements(steps, 5)).toEqual([
      { statement: 'select * from users where id = ?', count: 6, duration_ms: 12 },
    ])
    expect(repeatedStatements(steps, 7)).toEqual([])
  })

  test('ignores repetitions that are not in a loop', () => {
    const steps = Array.from({ length: 6 }, (_, i) => [
      sql('select * from settings'),
      ...Array.from({ length: 12 }, (_, j) => sql(`select column_${'abcdefghijkl'[j]}${'x'.repeat(i)} from wide`)),
    ]).flat()
    expect(repeatedStatements(steps, 5)).toEqual([])
  })
})
