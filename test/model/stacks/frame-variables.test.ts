import { describe, expect, test } from 'vitest'
import { parseFrame } from '../../../src/model/stacks/backtrace.js'
import { type FrameVariables, matchVariables, parseFrameVariables } from '../../../src/model/stacks/frame-variables.js'

const frame = (line: string) => parseFrame(line, '/app')
const variables = (name: string | null, line_number: number, file = 'src/cart.ts'): FrameVariables => ({
  ...{ function: name, file, line_number },
  variables: { line_number },
})

describe('the variables of a stack', () => {
  test('belong to the frame of the same place', () => {
    const frames = [frame('at Cart.total (/app/src/cart.ts:12:5)'), frame('at pay (/app/src/pay.ts:3:1)')]
    const [first, second] = frames
    const of = [variables('total', 12), variables('pay', 3, 'src/pay.ts')]
    const { matched, unmatched } = matchVariables(frames, of)
    expect([first, second].map((one) => one && matched.get(one))).toEqual(of)
    expect(unmatched).toEqual([])
  })

  test('belong to the frame of the same function where the error was made on another line than it was thrown', () => {
    const frames = [frame('at async Cart.total [as sum] (/app/src/cart.ts:12:5)')]
    expect(matchVariables(frames, [variables('total', 15)]).matched.size).toBe(1)
  })

  test('of a recursion belong to one frame each', () => {
    const frames = [12, 12, 12].map((line) => frame(`at walk (/app/src/cart.ts:${line}:5)`))
    const of = [variables('walk', 12), { ...variables('walk', 12), variables: { depth: 2 } }]
    const { matched, unmatched } = matchVariables(frames, of)
    expect([...matched.values()]).toEqual(of)
    expect(matched.has(frames[2] as (typeof frames)[0])).toBe(false)
    expect(unmatched).toEqual([])
  })

  test('that belong to no frame are told apart', () => {
    const other = variables('refund', 4, 'src/refund.ts')
    expect(matchVariables([frame('at pay (/app/src/pay.ts:3:1)')], [other]).unmatched).toEqual([other])
  })

  test.each([null, undefined, 'text', { order: 1 }, [null, 1, [], {}, { variables: 1 }, { file: 'x' }]])(
    'are none where something else is stored: %j',
    (stored) => expect(parseFrameVariables(stored)).toEqual([]),
  )
})
