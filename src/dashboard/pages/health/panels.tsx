import type { HealthState, Reason, WorkHealth } from '../../../health/health.js'
import type { Dropped, Health } from '../../../health/report.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { formatIdentifier } from '../../ui/badges.js'
import { formatCount, Time } from '../../ui/time.js'
import { DELIVERY_STATE_LABELS } from '../notifications/labels.js'

const STATE_LABELS: Record<HealthState, string> = { ok: 'Healthy', degraded: 'Degraded', failing: 'Failing' }
const STATE_DESCRIPTIONS: Record<HealthState, string> = {
  ok: 'Errors are recorded, and all data can be read.',
  degraded: 'No errors are lost, but something needs attention.',
  failing: 'Errors cannot be written or read.',
}

/** State with its reasons. */
interface HealthSummaryProps {
  state: HealthState
  reasons: readonly Reason[]
  hints: readonly string[]
}

export function HealthSummary({ state, reasons, hints }: HealthSummaryProps): Rendered {
  return (
    <section class={`card health-summary health-${state}`} aria-labelledby="health-state">
      <h2 id="health-state">
        <span class="health-dot" aria-hidden="true" />
        {STATE_LABELS[state]}
      </h2>
      {reasons.length === 0 ? (
        <p>{STATE_DESCRIPTIONS[state]}</p>
      ) : (
        <ul class="health-reasons">
          {reasons.map((reason) => (
            <li>{reason.message}</li>
          ))}
        </ul>
      )}
      {hints.map((hint) => (
        <p>Hint: {hint}.</p>
      ))}
    </section>
  )
}

export type Facts = readonly (readonly [label: string, value: Rendered])[]

export function FactCard({ title, rows, children }: { title: string; rows: Facts; children?: Rendered }): Rendered {
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl class="facts">
        {rows.map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd>{value ?? '–'}</dd>
          </>
        ))}
      </dl>
      {children}
    </section>
  )
}

export function DroppedTable({ dropped }: { dropped: readonly Dropped[] }): Rendered {
  return (
    <section class="card">
      <h2>Drops and failures since this process started</h2>
      {dropped.length === 0 ? (
        <p class="muted">No drops or failures. Rejections by limits are listed above.</p>
      ) : (
        <CountTable
          headings={['Reason', 'Times', 'Meaning']}
          rows={dropped.map(({ reason, count, text }) => ({ name: <code>{reason}</code>, count, meaning: text }))}
        />
      )}
    </section>
  )
}

/** Rejections of the last 24 hours, by the option that sets the limit. */
export function RejectionsTable({ rejections, visit }: { rejections: Health['rejections']; visit: Visit }): Rendered {
  return (
    <section class="card">
      <h2>Rejected by limits in the last 24 hours</h2>
      {!rejections || rejections.length === 0 ? (
        <p class="muted">{rejections ? 'No rejections.' : 'Unknown while the database cannot be read.'}</p>
      ) : (
        <CountTable
          headings={['Option', 'Rejected', 'Meaning']}
          rows={rejections.map(({ option, limit, count, first_rejected_at, last_rejected_at, text }) => ({
            name: (
              <>
                <code>{option}</code>
                <br />
                <small class="muted">{limitText(option, limit)}</small>
              </>
            ),
            count,
            meaning: (
              <>
                {text}
                <br />
                <small class="muted">
                  First <Time iso={first_rejected_at} visit={visit} />, last{' '}
                  <Time iso={last_rejected_at} visit={visit} />
                </small>
              </>
            ),
          }))}
        />
      )}
    </section>
  )
}

function CountTable({
  headings: [name, count, meaning],
  rows,
}: {
  headings: readonly [name: string, count: string, meaning: string]
  rows: readonly { name: Rendered; count: number; meaning: Rendered }[]
}): Rendered {
  return (
    <table class="dropped">
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col" class="number">
            {count}
          </th>
          <th scope="col">{meaning}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            <th scope="row">{row.name}</th>
            <td class="number">{formatCount(row.count)}</td>
            <td>{row.meaning}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function limitText(option: string, limit: NonNullable<Health['rejections']>[number]['limit']): string {
  const formatLimit = (value: number) =>
    option.includes('_bytes_') ? `${formatCount(value / 1_000_000)} MB` : formatCount(value)
  if (typeof limit === 'number') return formatLimit(limit)
  const { per_address = 0, total = 0 } = limit
  return `${formatLimit(per_address)} per address, ${formatLimit(total)} in total`
}

/** Jobs, notifications and cleanup. Stored in the database and shared by all processes. */
export function BackgroundWork({ work, visit }: { work: WorkHealth | null; visit: Visit }): Rendered {
  if (!work) {
    return (
      <section class="card">
        <h2>Background work</h2>
        <p class="muted">Unknown while the database cannot be read.</p>
      </section>
    )
  }
  const { engine, jobs, dead_letters, deliveries, cleanup } = work
  return (
    <FactCard
      title="Background work"
      rows={[
        ['Job engine', engineText(engine)],
        ['Jobs', engine.problem === null ? formatCounts(jobs, 'none') : null],
        [
          'Notifications',
          <a href={href(visit, '/notifications')}>{formatCounts(deliveries.by_state, 'none', deliveryLabel)}</a>,
        ],
        ['Last cleanup', cleanup.last_run_at ? <Time iso={cleanup.last_run_at} visit={visit} /> : 'not yet'],
        ['Retention', cleanup.retention_days === null ? 'no limit' : `${cleanup.retention_days} days`],
      ]}
    >
      {dead_letters.length > 0 && <DeadLetters deadLetters={dead_letters} visit={visit} />}
      {deliveries.last_failures.length > 0 && <Failures failures={deliveries.last_failures} visit={visit} />}
    </FactCard>
  )
}

/** Same words as the tabs of the delivery log. */
function deliveryLabel(state: string): string {
  return (DELIVERY_STATE_LABELS as Readonly<Record<string, string>>)[state]?.toLowerCase() ?? formatIdentifier(state)
}

function engineText({ name, problem, runs_in_this_process }: WorkHealth['engine']): string {
  if (problem !== null) return `${name}, unavailable: ${problem}`
  return runs_in_this_process ? `${name}; runs in this process` : `${name}; runs in other processes`
}

function DeadLetters({ deadLetters, visit }: { deadLetters: WorkHealth['dead_letters']; visit: Visit }): Rendered {
  return (
    <>
      <h3>Failed jobs</h3>
      <ul class="failures">
        {deadLetters.map(({ name, attempts, last_error, failed_at }) => (
          <li>
            <span>
              {`${formatIdentifier(name)}, ${attemptsText(attempts)}, `}
              <Time iso={failed_at} visit={visit} />
            </span>
            <code>{last_error.slice(0, 500)}</code>
          </li>
        ))}
      </ul>
    </>
  )
}

function Failures({
  failures,
  visit,
}: {
  failures: NonNullable<Health['work']>['deliveries']['last_failures']
  visit: Visit
}): Rendered {
  return (
    <>
      <h3>Failed notifications</h3>
      <ul class="failures">
        {failures.map(({ channel, event, attempts, last_response, created_at }) => (
          <li>
            <span>
              {`${formatIdentifier(channel)}, ${formatIdentifier(event)}, ${attemptsText(attempts)}, `}
              <Time iso={created_at} visit={visit} />
            </span>
            {last_response && <code>{last_response.slice(0, 500)}</code>}
          </li>
        ))}
      </ul>
      <p class="failures-more">
        <a href={href(visit, '/notifications', { state: 'failed' })}>View and retry failed notifications</a>
      </p>
    </>
  )
}

function attemptsText(attempts: number): string {
  return attempts === 1 ? '1 attempt' : `${formatCount(attempts)} attempts`
}

function formatCounts(byState: Readonly<Record<string, number>>, emptyText: string, label = formatIdentifier): string {
  const rows = Object.entries(byState)
  return rows.length === 0
    ? emptyText
    : rows.map(([state, count]) => `${formatCount(count)} ${label(state)}`).join(', ')
}
