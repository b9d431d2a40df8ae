import type { Rendered } from '../../define.js'
import { formatCount } from '../time.js'
import { ChartTable } from './chart-table.js'

/** Inline trend chart. Screen readers read its values. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }): Rendered {
  const max = Math.max(1, ...values)
  const step = 100 / Math.max(1, values.length)
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${values.join(', ')}`}
    >
      <title>{`${label}: ${values.join(', ')}`}</title>
      {values.map((value, i) => {
        const height = value === 0 ? 1 : Math.max(3, (value / max) * 24)
        return (
          <rect
            x={round(i * step)}
            y={round(24 - height)}
            width={round(step * 0.78)}
            height={round(height)}
            class={value === 0 ? 'none' : undefined}
          />
        )
      })}
    </svg>
  )
}

export interface Series {
  key: string
  label: string
  /** Class that sets the color: `severity-high`, `series-1`. */
  tone: string
}

export interface Bar {
  /** Text of the axis tick. */
  label: string
  /** Full name for the tooltip and the table. */
  name: string
  href?: string
  /** Keyed by series, bottom first. */
  values: Readonly<Record<string, number>>
}

const HEIGHT = 120

/** Stacked bars over time, each optionally a link, with a data table. */
export function BarChart({
  title,
  bars,
  series,
  unit,
}: {
  title: string
  bars: readonly Bar[]
  series: readonly Series[]
  /** Plural noun. */
  unit: string
}): Rendered {
  const totals = bars.map(({ values }) => series.reduce((sum, { key }) => sum + (values[key] ?? 0), 0))
  const ticks = axisTicks(Math.max(1, ...totals))
  const max = ticks[0] ?? 1
  const step = 1000 / Math.max(1, bars.length)
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        {series.length > 1 && <Legend series={series} />}
      </figcaption>
      <div class="plot">
        <div class="y-axis" aria-hidden="true">
          {ticks.map((tick) => (
            <span>{formatCompact(tick)}</span>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: the bars of a chart are not form fields */}
        <svg
          viewBox={`0 0 1000 ${HEIGHT}`}
          preserveAspectRatio="none"
          role="group"
          aria-label={`${title}, ${bars.length} bars`}
        >
          <path class="grid" d={ticks.map((tick) => `M0 ${round(HEIGHT - (tick / max) * HEIGHT)}H1000`).join('')} />
          {bars.map((bar, i) => (
            <BarColumn
              bar={bar}
              series={series}
              unit={unit}
              total={totals[i] ?? 0}
              x={i * step}
              width={step}
              scale={HEIGHT / max}
            />
          ))}
        </svg>
      </div>
      <div class="x-axis" aria-hidden="true">
        {axisLabels(bars).map((label) => (
          <span>{label}</span>
        ))}
      </div>
      <ChartTable
        title={title}
        columns={series.map(({ label }) => label)}
        rows={bars.map(({ name, href, values }) => ({
          name,
          href,
          cells: series.map(({ key }) => formatCount(values[key] ?? 0)),
        }))}
      />
    </figure>
  )
}

function BarColumn({
  bar,
  series,
  unit,
  total,
  x,
  width,
  scale,
}: {
  bar: Bar
  series: readonly Series[]
  unit: string
  total: number
  x: number
  width: number
  scale: number
}) {
  const sum = `${bar.name}: ${formatCount(total)} ${total === 1 ? unit.replace(/s$/, '') : unit}`
  const parts = series.flatMap(({ key, label }) => {
    const value = bar.values[key] ?? 0
    return value > 0 ? [`${formatCount(value)} ${label}`] : []
  })
  const name = series.length > 1 && parts.length > 0 ? `${sum} (${parts.join(', ')})` : sum
  let top = HEIGHT
  const rects = series.flatMap(({ key, tone }) => {
    const value = bar.values[key] ?? 0
    if (value === 0) return []
    const height = Math.max(1, value * scale)
    top -= height
    return [
      <rect
        class={tone}
        x={round(x + width * 0.12)}
        y={round(top)}
        width={round(width * 0.76)}
        height={round(height)}
      />,
    ]
  })
  const body = (
    <>
      <title>{name}</title>
      <rect class="hit" x={round(x)} y="0" width={round(width)} height={HEIGHT} />
      {rects}
    </>
  )
  if (!bar.href || total === 0) return <g>{body}</g>
  return (
    <a href={bar.href} aria-label={name}>
      {body}
    </a>
  )
}

function Legend({ series }: { series: readonly Series[] }): Rendered {
  return (
    <ul class="legend">
      {series.map(({ label, tone }) => (
        <li>
          <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true" focusable="false">
            <rect class={tone} width="8" height="8" rx="2" />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  )
}

export interface Share {
  label: Rendered
  href?: string | undefined
  value: number
  /** Text after the number, such as a unit or a percentage. */
  note?: string | undefined
}

/** Ranking as a table: name, bar and number per row. */
export function ShareBars({
  title,
  rows,
  heading,
  max = Math.max(1, ...rows.map(({ value }) => value)),
}: {
  title: string
  rows: readonly Share[]
  heading?: string
  /** Value of a full bar, if the rows are only part of a ranking. */
  max?: number | undefined
}): Rendered {
  return (
    <table class="shares">
      <caption class="hidden">{title}</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">{heading ?? title}</th>
          <th scope="col">Count</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ label, href, value, note }) => (
          <tr>
            <th scope="row">
              <span class="share-label" title={label.length > MAX_LABEL_LENGTH ? label : undefined}>
                {href ? <a href={href}>{shortLabel(label)}</a> : shortLabel(label)}
              </span>
              <svg class="share" width="100%" height="4" aria-hidden="true" focusable="false">
                <rect class="track" width="100%" height="4" rx="2" />
                <rect class="filled" width={`${round((value / max) * 100)}%`} height="4" rx="2" />
              </svg>
            </th>
            <td class="number">
              {formatCount(value)}
              {note && <span class="muted">{` ${note}`}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Two lines on a phone. Types and platforms can be arbitrarily long. */
const MAX_LABEL_LENGTH = 80

function shortLabel(label: string): string {
  return label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label
}

/** First, middle and last label: the most that fits on a phone. */
function axisLabels(bars: readonly Bar[]): string[] {
  if (bars.length < 3) return bars.map(({ label }) => label)
  return [0, Math.floor((bars.length - 1) / 2), bars.length - 1].map((i) => bars[i]?.label ?? '')
}

const MAX_INTERVALS = 5

/** Whole numbers for an axis up to `max`, highest first: 750, 500, 250, 0. Prefers the lowest axis, then few ticks. */
export function axisTicks(max: number): number[] {
  const power = 10 ** Math.floor(Math.log10(max))
  const [best] = [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5]
    .map((factor) => ({ step: factor * power, intervals: Math.ceil(max / (factor * power)) }))
    .filter(({ step, intervals }) => Number.isInteger(step) && intervals >= 2 && intervals <= MAX_INTERVALS)
    .sort((a, b) => a.step * a.intervals - b.step * b.intervals || b.step - a.step)
  const { step, intervals } = best ?? { step: max, intervals: 1 }
  return Array.from({ length: intervals + 1 }, (_, i) => (intervals - i) * step)
}

const compactFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function formatCompact(value: number): string {
  return compactFormat.format(value)
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}
