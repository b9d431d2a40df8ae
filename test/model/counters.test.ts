import { expect, test } from 'vitest'
import { Counters } from '../../src/model/counters.js'

test('counts dropped items by reason', () => {
  const counters = new Counters()
  counters.add('sampled_out')
  counters.add('ignored', 2)
  counters.add('sampled_out')
  counters.add('__proto__')
  expect(JSON.parse(JSON.stringify(counters))).toEqual(JSON.parse('{"__proto__":1,"ignored":2,"sampled_out":2}'))
})
