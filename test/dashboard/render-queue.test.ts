import { expect, test } from 'vitest'
import { renderInOrder } from '../../src/dashboard/render-queue.js'
import { nextTurn } from '../../src/model/event-loop-turns.js'

test('renders one page at a time, in order, and continues after a failure', async () => {
  const parts: string[] = []
  const render = (name: string) =>
    renderInOrder(async () => {
      for (let i = 1; i <= 3; i++) {
        parts.push(`${name}${i}`)
        await nextTurn()
      }
      if (name === 'b') throw new Error('broken page')
      return name
    })
  const results = await Promise.allSettled([render('a'), render('b'), render('c')])
  expect(parts).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3'])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
