import type { Rendered } from '../define.js'
import { ChartTable } from './chart-table.js'

export interface Line {
  label: string
  /** 1 is drawn through, 2 is dashed, 3 is dotted: colour alone tells nothing. */
  tone: 1 | 2 | 3
  /** Null where nothing is known: the line breaks there. */
  values: readonly (number | null)[]
}

export interface Moment {
  /** What stands under it, where there is room. */
  label: string
  /** What it is called in titles and in the table. */
  name: string
}

const HEIGHT = 100

/** Lines over time on one axis. A table behind says the same in numbers; marked moments have a band behind the lines. */
export function LineChart({
  title,
  moments,
  lines,
  format,
  least = 1,
  scale = 10,
  marked = [],
}: {
  title: string
  moments: readonly Moment[]
  lines: readonly Line[]
  format(value: number): string
  /** The axis reaches at least this far, so that noise does not look like a mountain. */
  least?: number
  /** What the units follow each other by: 1024 for bytes. */
  scale?: 10 | 1024
  marked?: readonly boolean[]
}): Rendered {
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null))
  const most = ceiling(Math.max(least, ...values), scale)
  const step = 1000 / Math.max(1, moments.length)
  return (
    <figure class="chart line-chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <ul class="legend">
          {lines.map(({ label, tone }) => (
            <li>
              <svg class="stroke" viewBox="0 0 16 8" width="16" height="8" aria-hidden="true" focusable="false">
                <path class={`line line-${tone}`} d="M0 4H16" />
              </svg>
              {label}
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot">
        <div class="y-axis" aria-hidden="true">
          <span>{format(most)}</span>
          <span>{format(most / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={title}>
          <path class="grid" d={`M0 .5H1000M0 ${HEIGHT / 2}H1000M0 ${HEIGHT - 0.5}H1000`} />
          {marked.map((isMarked, i) => isMarked && <Band x={i * step} width={step} />)}
          {lines.map(({ values, tone }) => (
            <path class={`line line-${tone}`} d={pathOf(values, step, most)} />
          ))}
          {moments.map(({ name }, i) => (
            <g>
              <title>{`${name}\n${lines.map((line) => `${line.label}: ${told(line.values[i], format)}`).join('\n')}`}</title>
              <rect class="hit" x={round(i * step)} y="0" width={round(step)} height={HEIGHT} />
            </g>
          ))}
        </svg>
      </div>
      <div class="x-axis" aria-hidden="true">
        {ticks(moments).map((label) => (
          <span>{label}</span>
        ))}
      </div>
      <ChartTable
        title={title}
        columns={lines.map(({ label }) => label)}
        rows={moments.map(({ name }, i) => ({ name, cells: lines.map(({ values }) => told(values[i], format)) }))}
      />
    </figure>
  )
}

function Band({ x, width }: { x: number; width: number }) {
  return <rect class="band" x={round(x)} y="0" width={round(width)} height={HEIGHT} />
}

/** A value that stands alone is drawn as a short line, which would otherwise be a point that nobody sees. */
function pathOf(values: readonly (number | null)[], step: number, most: number): string {
  return values
    .map((value, i) => {
      if (value === null) return ''
      const y = round(HEIGHT - (value / most) * HEIGHT)
      const begins = (values[i - 1] ?? null) === null
      const ends = (values[i + 1] ?? null) === null
      const x = round((i + 0.5) * step)
      if (!begins) return `L${x} ${y}`
      return ends ? `M${round(i * step)} ${y}H${round((i + 1) * step)}` : `M${x} ${y}`
    })
    .join('')
}

/** The next number whose half reads well too: 1, 2, 4, 5, 6, 8 times a power, or of a unit of bytes. */
function ceiling(value: number, scale: 10 | 1024): number {
  const unit = scale ** Math.floor(Math.log(value) / Math.log(scale) + 1e-9)
  if (scale === 10) return unit * ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= value) ?? 10)
  const power = 10 ** Math.floor(Math.log10(value / unit))
  return unit * power * ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power * unit >= value) ?? 10)
}

function told(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

function ticks(moments: readonly Moment[]): string[] {
  if (moments.length < 3) return moments.map(({ label }) => label)
  return [0, Math.floor((moments.length - 1) / 2), moments.length - 1].map((i) => moments[i]?.label ?? '')
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}
