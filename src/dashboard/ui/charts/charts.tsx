import type { Rendered } from '../../define.js'
import { formatCount } from '../time.js'
import { formatNumber } from '../units.js'
import { ChartTable } from './chart-table.js'
import { localTimes, type TimeAxis, TimeLabels } from './time-axis.js'

const SPARKLINE_HEIGHT = 24
/** Width of a bar, relative to its period. */
const BAR_WIDTH = 0.6

/**
 * Inline trend chart whose values screen readers announce. Its bars are thick lines of two paths, because a list has
 * hundreds of bars. The last bar is hatched, because its period is in progress.
 */
export function Sparkline({
  values,
  label,
  commonMax,
}: {
  values: readonly number[]
  label: string
  /** Maximum of all charts in a column. Makes their bars comparable, on a square-root scale that keeps small values visible. */
  commonMax?: number | undefined
}): Rendered {
  const max = Math.max(1, commonMax ?? 0, ...values)
  const step = 100 / Math.max(1, values.length)
  const width = step * BAR_WIDTH
  const heights = values.map((value) => {
    const share = commonMax === undefined ? value / max : Math.sqrt(value / max)
    return value === 0 ? 0 : Math.max(3, share * SPARKLINE_HEIGHT)
  })
  const lines = { bars: '', empty: '' }
  for (const [i, height] of heights.entries()) {
    lines[height > 0 ? 'bars' : 'empty'] += `M${round(i * step + width / 2)} ${SPARKLINE_HEIGHT}v-${round(height || 1)}`
  }
  const lastHeight = heights.at(-1) ?? 0
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      stroke-width={round(width)}
      data-max={commonMax === undefined ? undefined : max}
    >
      <title>{`${label}: ${values.join(', ')}`}</title>
      <path d={lines.bars} />
      <path class="none" d={lines.empty} />
      <svg
        x={round(100 - step)}
        y={round(SPARKLINE_HEIGHT - lastHeight)}
        width={round(width)}
        height={round(lastHeight)}
        aria-hidden="true"
      >
        <path class="hatch" d={sparklineHatching(width)} />
      </svg>
    </svg>
  )
}

const sparklineHatchings = new Map<number, string>()

/** Calculated once per width, because a list has a sparkline of the same width in every row. */
function sparklineHatching(width: number): string {
  const existing = sparklineHatchings.get(width)
  if (existing !== undefined) return existing
  const path = hatching({ x: 0, width, top: 0, bottom: SPARKLINE_HEIGHT })
  sparklineHatchings.set(width, path)
  return path
}

export interface Series {
  key: string
  label: string
  /** Class that sets the color: `severity-high`, `series-1`. */
  tone: string
}

export interface Bar {
  /** Full name for the tooltip and the table. */
  name: string
  /** Link of the bar, and of its row in the table. */
  href?: string | undefined
  /** Link that zooms into the time of the bar. Replaces `href` on the bar. */
  zoom?: string | undefined
  /** True if the period of the bar is still in progress. The bar is then hatched. */
  isCurrent?: boolean | undefined
  /** Keyed by series, bottom first. */
  values: Readonly<Record<string, number>>
}

/** Vertical line at a point in time. */
export interface Marker {
  /** From 0 (start of the first bar) to 1 (end of the last bar). */
  position: number
  label: string
  /** Accessible name and tooltip. */
  name: string
  /** Value of `namedTime` for the time in the name. */
  time: string | undefined
  href: string
}

const HEIGHT = 120
/** More release lines than this would dominate the chart. */
const MAX_LINES = 5

/** Stacked bars over time, each optionally a link, with a data table. */
export function BarChart({
  title,
  bars,
  axis,
  series,
  unit,
  markers = [],
}: {
  title: string
  bars: readonly Bar[]
  axis: TimeAxis
  series: readonly Series[]
  /** Unit as a plural noun. */
  unit: string
  markers?: readonly Marker[]
}): Rendered {
  const totals = bars.map(({ values }) => series.reduce((sum, { key }) => sum + (values[key] ?? 0), 0))
  const ticks = axisTicks(Math.max(1, ...totals))
  const max = ticks[0] ?? 1
  const step = 1000 / Math.max(1, bars.length)
  return (
    <figure class="chart" data-times={localTimes(axis)}>
      <figcaption>
        <span class="chart-title">{title}</span>
        <Legend
          series={series.length > 1 ? series : []}
          hasCurrent={bars.some(({ isCurrent }) => isCurrent)}
          hasTicks={markers.length > MAX_LINES}
        />
      </figcaption>
      <div class={markers.length > 0 ? 'plot has-markers' : 'plot'}>
        <div class="y-axis" aria-hidden="true">
          {ticks.map((tick) => (
            <span>{formatCompact(tick)}</span>
          ))}
        </div>
        <div class="plot-area">
          {markers.length > 0 && <Markers markers={markers} />}
          {/* biome-ignore lint/a11y/useSemanticElements: the bars of a chart are not form fields */}
          <svg
            viewBox={`0 0 1000 ${HEIGHT}`}
            preserveAspectRatio="none"
            role="group"
            aria-label={`${title}, ${bars.length} bars`}
            data-chart
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
        <TimeLabels axis={axis} count={bars.length} />
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
  const sum = `${formatCount(total)} ${total === 1 ? unit.replace(/s$/, '') : unit}`
  const parts = series.flatMap(({ key, label }) => {
    const value = bar.values[key] ?? 0
    return series.length > 1 && value > 0 ? [`${formatCount(value)} ${label}`] : []
  })
  const time = bar.isCurrent ? `${bar.name}, in progress` : bar.name
  const name = `${time}: ${sum}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
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
  const link = bar.zoom ?? bar.href
  const body = (
    <>
      <title>{[time, sum, ...parts].join('\n')}</title>
      <rect class="hit" x={round(x)} y="0" width={round(width)} height={HEIGHT} />
      {rects}
      {bar.isCurrent && total > 0 && (
        <path class="hatch" d={hatching({ x: x + width * 0.12, width: width * 0.76, top, bottom: HEIGHT })} />
      )}
    </>
  )
  if (!link || total === 0) {
    return (
      // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of shapes is not interactive
      <g role="img" aria-label={name} data-bar data-zoom={bar.zoom}>
        {body}
      </g>
    )
  }
  return (
    <a href={link} aria-label={name} data-bar>
      {body}
    </a>
  )
}

/** Vertical distance and height of the stripes, in units of the chart. */
const HATCH_STEP = 8
const HATCH_HEIGHT = 3

/** Diagonal stripes across a bar. A pattern would be distorted, because the chart is stretched to the width of the page. */
function hatching({ x, width, top, bottom }: { x: number; width: number; top: number; bottom: number }): string {
  const count = Math.ceil((bottom - top) / HATCH_STEP)
  return Array.from({ length: count }, (_, i) => {
    const y = bottom - i * HATCH_STEP
    const end = Math.max(top, y - HATCH_STEP)
    return `M${round(x)} ${round(y)}L${round(x + width)} ${round(end)}v${-HATCH_HEIGHT}L${round(x)} ${round(y - HATCH_HEIGHT)}z`
  }).join('')
}

/** Width of one label character, relative to a chart on a phone and to a chart of 860 pixels. */
const CHARACTER_WIDTHS = { narrow: 0.02, wide: 0.0075 }
/** Two labels of this length fit side by side on a phone. Most contain a version and an application. */
const MAX_MARKER_LABEL_LENGTH = 22

interface MarkerLabel {
  text: string
  anchor: 'start' | 'end'
  position: number
  isWideOnly: boolean
}

/** Label of a marker. Extends to the left in the right half of the chart, so that it stays inside. */
function markerLabel({ position, label }: Marker): MarkerLabel {
  const isLong = label.length > MAX_MARKER_LABEL_LENGTH
  const text = isLong ? `${label.slice(0, MAX_MARKER_LABEL_LENGTH - 1)}…` : label
  return { text, position, anchor: position > 0.5 ? 'end' : 'start', isWideOnly: false }
}

/**
 * Labels of the markers. Where labels would overlap, keeps the newest. A marker without a label still has a tooltip.
 */
function markerLabels(markers: readonly Marker[]): (MarkerLabel | null)[] {
  const labels = markers.map(markerLabel)
  const wide = withoutOverlaps(labels, CHARACTER_WIDTHS.wide)
  const narrow = withoutOverlaps([...wide], CHARACTER_WIDTHS.narrow)
  return labels.map((label) => (wide.has(label) ? { ...label, isWideOnly: !narrow.has(label) } : null))
}

function withoutOverlaps(labels: readonly MarkerLabel[], characterWidth: number): Set<MarkerLabel> {
  let free = Number.POSITIVE_INFINITY
  const kept = labels.toReversed().filter(({ text, anchor, position }) => {
    // Adds one character as a gap.
    const width = (text.length + 1) * characterWidth
    const from = anchor === 'end' ? position - width : position
    if (from + width > free) return false
    free = from
    return true
  })
  return new Set(kept.reverse())
}

/**
 * Labeled vertical lines behind the bars, or short ticks above the chart if there are many. The coordinates are
 * percentages, so that the labels are not stretched. Markers react to the pointer above the chart only, because the line
 * belongs to the bar of the newest release.
 */
export function Markers({ markers }: { markers: readonly Marker[] }): Rendered {
  const areTicks = markers.length > MAX_LINES
  const labels = areTicks ? [] : markerLabels(markers)
  return (
    // biome-ignore lint/a11y/useSemanticElements: the lines of a chart are not form fields
    <svg
      class={areTicks ? 'markers marker-ticks' : 'markers'}
      width="100%"
      height="100%"
      role="group"
      aria-label="Releases"
    >
      {markers.map(({ position, name, href, time }, i) => {
        const x = `${round(position * 100)}%`
        const label = labels[i]
        return (
          <a href={href} aria-label={name} data-bar data-named-time={time}>
            <title>{name}</title>
            <line class="marker-hit" x1={x} x2={x} y1="-14" y2="0" />
            {areTicks && <line class="marker-tick" x1={x} x2={x} y1="-8" y2="0" />}
            <line class="marker" x1={x} x2={x} y1="0" y2="100%" />
            {label && (
              <text x={x} y="-4" text-anchor={label.anchor} class={label.isWideOnly ? 'wide-only' : undefined}>
                {label.text}
              </text>
            )}
          </a>
        )
      })}
    </svg>
  )
}

function Legend({
  series,
  hasCurrent,
  hasTicks,
}: {
  series: readonly Series[]
  hasCurrent: boolean
  hasTicks: boolean
}): Rendered {
  if (series.length === 0 && !hasCurrent && !hasTicks) return null
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
      {hasCurrent && (
        <li>
          <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true" focusable="false">
            <rect class="series-1" width="8" height="8" />
            <path class="hatch" d="M0 5L5 0H8L0 8zM4 8L8 4V7L7 8z" />
          </svg>
          in progress
        </li>
      )}
      {hasTicks && (
        <li>
          <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true" focusable="false">
            <path class="marker-tick" d="M4 0V8" />
          </svg>
          release
        </li>
      )}
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
  /** Value of a full bar, if the rows are only a part of a ranking. */
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

/** Fits on two lines of a phone. Types and platforms can be arbitrarily long. */
const MAX_LABEL_LENGTH = 80

function shortLabel(label: string): string {
  return label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label
}

const MAX_INTERVALS = 5

/**
 * Returns whole numbers for an axis up to `max`, highest first: 750, 500, 250, 0. Prefers the lowest axis, then few
 * ticks.
 */
export function axisTicks(max: number): number[] {
  const power = 10 ** Math.floor(Math.log10(max))
  const [best] = [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5]
    .map((factor) => ({ step: factor * power, intervals: Math.ceil(max / (factor * power)) }))
    .filter(({ step, intervals }) => Number.isInteger(step) && intervals >= 2 && intervals <= MAX_INTERVALS)
    .sort((a, b) => a.step * a.intervals - b.step * b.intervals || b.step - a.step)
  const { step, intervals } = best ?? { step: max, intervals: 1 }
  return Array.from({ length: intervals + 1 }, (_, i) => (intervals - i) * step)
}

const THOUSANDS = ['', 'K', 'M', 'B', 'T']

/** Formats a number as `1.5K`. */
function formatCompact(value: number): string {
  let power = 0
  for (; value >= 1000 ** (power + 1) && power < THOUSANDS.length - 1; power++);
  return `${formatNumber(value / 1000 ** power, 1)}${THOUSANDS[power]}`
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}
