import type { Delivery } from '../../../notifications/delivery/deliveries.js'
import { allows } from '../../access.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { SeverityBadge } from '../../ui/badges.js'
import { ApplicationField } from '../../ui/forms.js'
import { formatCount, Time } from '../../ui/time.js'
import { channelLabel, DELIVERY_STATE_LABELS, EVENT_LABELS } from './labels.js'

interface DeliveryProps {
  delivery: Delivery
  visit: Visit
}

/** Delivery log with state, attempts and last response. */
export function Deliveries({ deliveries, visit }: { deliveries: readonly Delivery[]; visit: Visit }): Rendered {
  return (
    <table class="deliveries">
      <thead>
        <tr>
          <th scope="col" class="delivery-state">
            State
          </th>
          <th scope="col">Notification</th>
          <th scope="col" class="delivery-channel">
            Channel
          </th>
          <th scope="col" class="delivery-answer">
            Last response
          </th>
          <th scope="col" class="delivery-time">
            Created
          </th>
          <th scope="col" class="delivery-action">
            <span class="hidden">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <Row delivery={delivery} visit={visit} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ delivery, visit }: DeliveryProps) {
  return (
    <tr>
      <td class="delivery-state">
        <StateBadge state={delivery.state} />
      </td>
      <td class="delivery-message">
        <p class="delivery-subject">
          <Subject delivery={delivery} visit={visit} />
        </p>
        <p class="meta muted">
          {EVENT_LABELS[delivery.event] ?? delivery.event}
          {delivery.event !== 'test' && delivery.event !== 'digest' && (
            <>
              {' '}
              <SeverityBadge severity={delivery.severity} />
            </>
          )}
          {isMixed(visit) && delivery.application_name !== null && (
            <>
              {' · '}
              <bdi>{delivery.application_name}</bdi>
            </>
          )}
          {delivery.environment !== null && delivery.environment !== visit.options.environment && (
            <>
              {' · '}
              <bdi>{delivery.environment}</bdi>
            </>
          )}
        </p>
      </td>
      <td class="delivery-channel">{channelLabel(delivery.channel)}</td>
      <td class="delivery-answer">
        {delivery.last_response && <code dir="auto">{delivery.last_response}</code>}
        <p class="meta muted">{attemptsText(delivery)}</p>
      </td>
      <td class="delivery-time">
        <Time iso={delivery.created_at} visit={visit} />
        <NextAttempt delivery={delivery} visit={visit} />
      </td>
      <td class="delivery-action">{delivery.state === 'failed' && <Retry delivery={delivery} visit={visit} />}</td>
    </tr>
  )
}

function StateBadge({ state }: { state: Delivery['state'] }): Rendered {
  return <span class={`badge delivery-${state}`}>{DELIVERY_STATE_LABELS[state] ?? state}</span>
}

/** Links to the error unless it was deleted. */
function Subject({ delivery: { error_id, error_exists, subject }, visit }: DeliveryProps) {
  if (error_id === null || !error_exists) return <bdi>{subject}</bdi>
  return (
    <a href={href(visit, `/errors/${error_id}`)}>
      <bdi>{subject}</bdi>
    </a>
  )
}

function NextAttempt({ delivery, visit }: DeliveryProps) {
  const { state, run_at, finished_at, created_at, messages_ahead } = delivery
  if (messages_ahead !== null)
    return <small>{overdueText(messages_ahead, delivery.messages_ahead_is_lower_bound)}</small>
  if ((state === 'held' || state === 'over_limit') && run_at !== null)
    return (
      <small>
        due <Time iso={run_at} visit={visit} />
      </small>
    )
  if (state === 'retrying' && run_at !== null) {
    return (
      <small>
        next attempt <Time iso={run_at} visit={visit} />
      </small>
    )
  }
  if (finished_at === null || Date.parse(finished_at) - Date.parse(created_at) < MINUTE) return null
  return (
    <small>
      {state === 'sent' ? 'sent ' : 'ended '}
      <Time iso={finished_at} visit={visit} />
    </small>
  )
}

const MINUTE = 60_000

function overdueText(count: number, isLowerBound = false): string {
  if (count === 0) return 'overdue'
  return `overdue, ${formatCount(count)}${isLowerBound ? '+' : ''} ${count === 1 ? 'message' : 'messages'} ahead`
}

function Retry({ delivery: { id, subject }, visit }: DeliveryProps) {
  if (!allows(visit, 'responder')) return null
  return (
    <form method="post" action={`${visit.base}/notifications/${id}/retry`}>
      <ApplicationField visit={visit} />
      {['state', 'channel', 'page'].map((name) => {
        const value = visit.query.get(name)
        return value && <input type="hidden" name={name} value={value} />
      })}
      <button type="submit" aria-label={`Retry: ${subject.slice(0, 80)}`}>
        Retry
      </button>
    </form>
  )
}

function attemptsText({ state, attempts }: Delivery): string {
  if (state === 'combined') return 'Sent in a summary'
  if (attempts === 0) return 'Not attempted yet'
  return attempts === 1 ? '1 attempt' : `${formatCount(attempts)} attempts`
}

function isMixed({ applications, application_id }: Visit): boolean {
  return applications.length > 1 && application_id === null
}
