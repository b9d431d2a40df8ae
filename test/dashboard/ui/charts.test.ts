import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { axisTicks } from '../../../src/dashboard/ui/charts/charts.js'

describe('axisTicks', () => {
  test.each([
    [1, [1, 0]],
    [5, [5, 4, 3, 2, 1, 0]],
    [26, [30, 20, 10, 0]],
    [230, [250, 200, 150, 100, 50, 0]],
    [750, [750, 500, 250, 0]],
    [12_345, [12_500, 10_000, 7500, 5000, 2500, 0]],
  ])('the axis for %i has round ticks', (max, ticks) => {
    expect(axisTicks(max)).toEqual(ticks)
  })

  test('ticks are whole numbers and cover every maximum', () => {
    for (let max = 1; max < 3000; max++) {
      const ticks = axisTicks(max)
      expect([max, ticks.every(Number.isInteger)]).toEqual([max, true])
      expect(ticks[0]).toBeGreaterThanOrEqual(max)
      expect(ticks[0]).toBeLessThanOrEqual(max * 2)
    }
  })
})

describe('colors of charts', () => {
  const tokens = readFileSync(new URL('../../../src/dashboard/assets/css/tokens.css', import.meta.url), 'utf8')
  const colors = Object.fromEntries(
    [...tokens.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
      name,
      [light ?? '', dark ?? ''] as const,
    ]),
  )
  const fills = Object.keys(colors).filter((name) => /-fill$|^bar$|^bar-(?:second|third)$/.test(name))

  test('every fill has a contrast of 3:1 on every background, in both schemes', () => {
    expect(fills.length).toBeGreaterThan(6)
    const weak = fills.flatMap((fill) =>
      ['surface', 'raised', 'selected'].flatMap((background) =>
        ([0, 1] as const)
          .map((scheme) => contrast(colors[fill]?.[scheme] ?? '', colors[background]?.[scheme] ?? ''))
          .filter((ratio) => ratio < 3)
          .map((ratio) => `${fill} on ${background}: ${ratio.toFixed(2)}`),
      ),
    )
    expect(weak).toEqual([])
  })
})

/** Contrast ratio of WCAG 2.2. */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((i) => Number.parseInt(color.slice(i, i + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
