import { createHash } from 'node:crypto'

const HOUR = 3_600_000
/** Number of newest occurrences kept per group, equal to the default of the tracker. */
export const MAX_OCCURRENCES_PER_GROUP = 1000

/**
 * Folds errors into the rows of one commit. The contents equal those of the tracker, except for the signature, which is
 * derived from type and message.
 */
export function foldRows(events, now) {
  const groups = new Map()
  const application = new Map()
  for (const event of events) {
    const hash_signature = sha256(`${event.error_type}\n${event.message}`)
    const group = groups.get(hash_signature) ?? newGroup(hash_signature, event, now)
    groups.set(hash_signature, group)
    group.count++
    group.newest = event
    add(group.hours, event.platform, hourOf(now), event)
    add(application, event.platform, hourOf(now), event)
    const user = group.users.get(event.user_id) ?? { user_id: event.user_id, count: 0 }
    user.count++
    group.users.set(event.user_id, user)
    group.occurrences.push({
      occurred_at: now,
      platform: event.platform,
      app_version: event.app_version,
      git_sha: event.git_sha,
      user_id: event.user_id,
      request_url: event.request_url,
      ip_address: event.ip_address,
      user_agent: event.user_agent,
      context: JSON.stringify({ request_params: event.request_params }),
    })
  }
  for (const group of groups.values()) group.occurrences = group.occurrences.slice(-MAX_OCCURRENCES_PER_GROUP)
  const sorted = [...groups.values()].sort((a, b) => (a.hash_signature < b.hash_signature ? -1 : 1))
  return { now, groups: sorted, application: [...application.values()] }
}

function newGroup(hash_signature, { error_type, message, stack }, now) {
  const backtrace = stack.split('\n').map((line) => line.trim())
  const content = JSON.stringify({ backtrace, causes: [] })
  return {
    environment: 'production',
    hash_signature,
    error_type,
    message,
    place: backtrace[0].slice(3),
    severity: 'low',
    first_seen_at: now,
    occurred_at: now,
    search_text: [error_type, message, ...backtrace].join('\n').toLowerCase(),
    payload: { digest: sha256(content), content },
    features: similarityFeatures(message, backtrace),
    count: 0,
    hours: new Map(),
    users: new Map(),
    occurrences: [],
  }
}

/** Features in the same number and size as those of the tracker: frames, and words of the message. */
function similarityFeatures(message, backtrace) {
  const frames = backtrace.slice(0, 20).map((line) => line.replace(/:\d+:\d+\)?$/, ''))
  const words = message.toLowerCase().replace(/\d+/g, '<n>').split(/\W+/)
  return [...new Set([...frames, ...words])].map((name) => createHash('sha1').update(name).digest().readUIntBE(0, 6))
}

function add(sums, key, hour, { platform, app_version }) {
  const sum = sums.get(key)
  if (sum) sum.count++
  else sums.set(key, { hour, severity: 'low', platform, app_version, environment: 'production', count: 1 })
}

function hourOf(time) {
  return time - (time % HOUR)
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex')
}
