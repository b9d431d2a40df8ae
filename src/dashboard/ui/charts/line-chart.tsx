import type { Rendered } from '../../define.js'
import { formatCount } from '../time.js'
import { ChartTable } from './chart-table.js'
import { type Marker, Markers } from './charts.js'
import { localTimes, type TimeAxis, TimeLabels } from './time-axis.js'

export interface Line {
  label: string
  /** 1 is solid, 2 dashed and 3 dotted, so that lines are distinguishable without color. */
  tone: 1 | 2 | 3
  /** Null for a gap in the line. */
  values: readonly (number | null)[]
}

export interface Moment {
  /** Full name for tooltips and the table. */
  name: string
  /** True if the period of the point is still in progress. */
  isCurrent?: boolean
  /** Link that zooms into the time of the point. */
  zoom?: string | undefined
}

const HEIGHT = 100

/** Counts that belong to the lines of a chart, such as errors. Marked on the x axis. */
export interface Marks {
  label: string
  counts: readonly number[]
}

/** Height of a mark, in units of the chart. */
const MARK_HEIGHT = 3

/** Lines over time with a data table. */
export function LineChart({
  title,
  moments,
  axis,
  lines,
  format,
  minMax = 1,
  scale = 10,
  marks,
  markers = [],
}: {
  title: string
  moments: readonly Moment[]
  axis: TimeAxis
  lines: readonly Line[]
  format(value: number): string
  /** Lower bound for the end of the axis, so that noise does not look like a spike. */
  minMax?: number
  /** Base of the units: 1024 for bytes. */
  scale?: 10 | 1024
  marks?: Marks | undefined
  markers?: readonly Marker[]
}): Rendered {
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null))
  const max = roundUpForAxis(Math.max(minMax, ...values), scale)
  const step = 1000 / Math.max(1, moments.length)
  return (
    <figure class="chart" data-times={localTimes(axis)}>
      <figcaption>
        <span class="chart-title">{title}</span>
        <ul class="legend">
          {lines.map(({ label, tone }) => (
            <li>
              <svg viewBox="0 0 16 8" width="16" height="8" aria-hidden="true" focusable="false">
                <path class={`line line-${tone}`} d="M0 4H16" />
              </svg>
              {label}
            </li>
          ))}
          {marks && (
            <li>
              <svg viewBox="0 0 16 8" width="16" height="8" aria-hidden="true" focusable="false">
                <rect class="mark" y="4" width="16" height="4" />
              </svg>
              {marks.label}
            </li>
          )}
        </ul>
      </figcaption>
      <div class={markers.length > 0 ? 'plot has-markers' : 'plot'}>
        <div class="y-axis" aria-hidden="true">
          <span>{format(max)}</span>
          <span>{format(max / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <div class="plot-area">
          {markers.length > 0 && <Markers markers={markers} />}
          {/* biome-ignore lint/a11y/useSemanticElements: the moments of a chart are not form fields */}
          <svg
            viewBox={`0 0 1000 ${HEIGHT}`}
            preserveAspectRatio="none"
            role="group"
            aria-label={`${title}, ${moments.length} points`}
            data-chart
          >
            <path class="grid" d={`M0 .5H1000M0 ${HEIGHT / 2}H1000M0 ${HEIGHT - 0.5}H1000`} />
            {marks?.counts.map((count, i) => count > 0 && <Mark x={i * step} width={step} />)}
            {lines.map(({ values, tone }) => (
              <path class={`line line-${tone}`} d={linePath(values, step, max)} />
            ))}
            {moments.map((moment, i) => (
              <MomentColumn
                moment={moment}
                values={[
                  ...lines.map((line) => `${line.label}: ${formatOrDash(line.values[i], format)}`),
                  ...(marks?.counts[i] ? [`${marks.label}: ${formatCount(marks.counts[i])}`] : []),
                ]}
                x={i * step}
                width={step}
              />
            ))}
          </svg>
        </div>
        <TimeLabels axis={axis} count={moments.length} />
      </div>
      <ChartTable
        title={title}
        columns={lines.map(({ label }) => label)}
        rows={moments.map(({ name }, i) => ({
          name,
          cells: lines.map(({ values }) => formatOrDash(values[i], format)),
        }))}
      />
    </figure>
  )
}

function MomentColumn({
  moment: { name, isCurrent, zoom },
  values,
  x,
  width,
}: {
  moment: Moment
  values: readonly string[]
  x: number
  width: number
}) {
  const body = (
    <>
      <title>{[isCurrent ? `${name}, in progress` : name, ...values].join('\n')}</title>
      <rect class="hit" x={round(x)} y="0" width={round(width)} height={HEIGHT} />
    </>
  )
  if (zoom) {
    return (
      <a href={zoom} data-bar>
        {body}
      </a>
    )
  }
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of shapes is not interactive
    <g role="img" data-bar>
      {body}
    </g>
  )
}

function Mark({ x, width }: { x: number; width: number }) {
  return <rect class="mark" x={round(x)} y={HEIGHT - MARK_HEIGHT} width={round(width * 0.8)} height={MARK_HEIGHT} />
}

/** Draws an isolated value as a short line, because a single point would be invisible. */
function linePath(values: readonly (number | null)[], step: number, max: number): string {
  return values
    .map((value, i) => {
      if (value === null) return ''
      const y = round(HEIGHT - (value / max) * HEIGHT)
      const startsLine = (values[i - 1] ?? null) === null
      const endsLine = (values[i + 1] ?? null) === null
      const x = round((i + 0.5) * step)
      if (!startsLine) return `L${x} ${y}`
      return endsLine ? `M${round(i * step)} ${y}H${round((i + 1) * step)}` : `M${x} ${y}`
    })
    .join('')
}

/** Rounds up to a number whose half is also a good axis label. */
function roundUpForAxis(value: number, scale: 10 | 1024): number {
  const unit = scale ** Math.floor(Math.log(value) / Math.log(scale) + 1e-9)
  if (scale === 10) return unit * ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= value) ?? 10)
  const power = 10 ** Math.floor(Math.log10(value / unit))
  return unit * power * ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power * unit >= value) ?? 10)
}

function formatOrDash(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}
