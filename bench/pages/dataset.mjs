import { createHash } from 'node:crypto'
import { seeded } from '../harness/measure.mjs'
import {
  addBaselines,
  addCascades,
  addCommentsAndActivities,
  addFeatures,
  addReleases,
  addTags,
  tagsOf,
} from './insight.mjs'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const HOUR = 3_600_000
const DAY = 24 * HOUR
const GROUPS = 20_000
const DAYS = 90
const MAX_OCCURRENCES_PER_GROUP = 1000
const USERS = 50_000
const VERSIONS = 10
const SEVERITIES = ['critical', 'high', 'medium', 'low', 'low', 'medium']
const PLATFORMS = ['API', 'Web', 'iOS', 'Android']
const STATUSES = ['new', 'in_progress', 'investigating', 'resolved', 'wont_fix']
const ENVIRONMENTS = ['production', 'staging', 'preview']
const AREAS = ['Payment', 'Stock', 'Cart', 'Session', 'Mail', 'Search', 'Import', 'Report']
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36'

/** End of the data set, used as the current time by the tracker of the suite. */
export const END = Date.UTC(2026, 5, 15, 12, 30)

/** Words that a known number of errors contain, and a rare version. */
export const WORDS = { rare: 'zebrafish', common: 'warehouse', absent: 'xylophone-quartz', version: '0.9.0-rare' }

/**
 * Writes a data set with `add(table, row)`, group by group: the given number of occurrences over all groups (Zipf) and
 * 90 days. Sums include all of them. Rows exist only for the newest of each group, as in a long-running installation.
 */
export async function buildDataset(occurrences, add, groups = GROUPS) {
  const random = seeded(occurrences)
  const shared = {
    application: new Map(),
    days: new Map(),
    typeHours: new Map(),
    typeDays: new Map(),
    typePlatforms: new Map(),
  }
  for (const [i, name] of ['bench', 'bench-worker'].entries())
    await add('faultboard_applications', { id: i + 1, name, created_at: END - DAYS * DAY })
  const counts = zipfCounts(occurrences, groups)
  for (let group = 0; group < groups; group++) await writeGroup(group, counts[group], random, shared, add)
  const tables = {
    application: 'faultboard_application_hours',
    days: 'faultboard_application_days',
    typeHours: 'faultboard_type_hours',
    typeDays: 'faultboard_type_days',
  }
  for (const [name, table] of Object.entries(tables)) {
    for (const sum of shared[name].values()) await add(table, sum)
  }
  const versions = Array.from({ length: VERSIONS }, (_, i) => `3.${i}.0`)
  const origins = { applications: [1, 2], platforms: PLATFORMS, environments: ENVIRONMENTS }
  await addReleases(versions, origins, END - DAYS * DAY, DAYS, add)
  await addBaselines(shared.typePlatforms.values(), DAYS, END - HOUR, add)
  await addCascades(groups, END, random, add)
}

async function writeGroup(group, count, random, shared, add) {
  const id = group + 1
  const { error_type, message } = typeAndMessage(group)
  const severity = SEVERITIES[group % SEVERITIES.length]
  const application_id = applicationOf(group)
  const environment = environmentOf(group)
  const rare = group % 4000 === 1234
  const times = occurrenceTimes(count, random)
  const hours = new Map()
  const versions = new Map()
  const users = new Map()
  const kept = []
  for (let i = 0; i < count; i++) {
    const occurred_at = times[i]
    const platform = PLATFORMS[random() < 0.7 ? group % 4 : Math.floor(random() * 4)]
    const app_version = rare ? WORDS.version : versionAt(occurred_at, random)
    const user_id = random() < 0.8 ? `user-${Math.floor(random() ** 2 * USERS)}` : null
    const sum = { hour: occurred_at - (occurred_at % HOUR), severity, platform, app_version }
    const day = occurred_at - (occurred_at % DAY)
    increment(hours, sum)
    increment(shared.application, { application_id, ...sum, environment })
    increment(shared.days, { application_id, day, severity, platform, app_version, environment })
    increment(shared.typeHours, { application_id, error_type, hour: sum.hour, environment })
    increment(shared.typeDays, { application_id, day, error_type, environment })
    increment(shared.typePlatforms, { application_id, error_type, platform, environment })
    countVersion(versions, app_version, sum.hour)
    if (user_id) countUser(users, user_id, occurred_at)
    if (i >= count - MAX_OCCURRENCES_PER_GROUP) kept.push({ occurred_at, platform, app_version, user_id })
  }
  const user_count = users.size
  await add('faultboard_errors', {
    ...groupRow(id, severity, count, times[0], kept.at(-1), kept[0].app_version),
    user_count,
  })
  const backtrace = backtraceOf(group)
  await addFeatures(id, message, backtrace, add)
  await addTags(id, count, random, add)
  await addCommentsAndActivities(id, times[0], add)
  const search_text = [error_type, message, ...backtrace].join('\n').toLowerCase()
  await add('faultboard_error_search', { error_id: id, search_text })
  const content = JSON.stringify({ backtrace, causes: [] })
  const digest = createHash('sha256').update(content).digest('hex')
  await add('faultboard_payloads', { id, error_id: id, digest, content })
  for (const sum of hours.values()) await add('faultboard_error_hours', { error_id: id, ...sum })
  for (const sum of versions.values()) await add('faultboard_error_versions', { application_id, error_id: id, ...sum })
  for (const platform of new Set([...hours.values()].map((sum) => sum.platform)))
    await add('faultboard_error_origins', { error_id: id, kind: 'platform', value: platform })
  await add('faultboard_error_origins', { error_id: id, kind: 'commit', value: COMMIT })
  for (const sum of users.values()) await add('faultboard_error_users', { error_id: id, ...sum })
  for (const event of kept) await add('faultboard_occurrences', occurrenceRow(id, event, random))
}

/** One error in ten occurs in staging, and one in twenty in a preview. */
function environmentOf(group) {
  const [production, staging, preview] = ENVIRONMENTS
  if (group % 10 === 3) return staging
  return group % 20 === 7 ? preview : production
}

/** One error in twenty belongs to a second application. */
function applicationOf(group) {
  return group % 20 === 11 ? 2 : 1
}

function groupRow(id, severity, occurrence_count, first_seen_at, newest, first_app_version) {
  const status = STATUSES[id % 7] ?? 'new'
  const resolved = status === 'resolved' ? 1 : 0
  return {
    id,
    application_id: applicationOf(id - 1),
    environment: environmentOf(id - 1),
    hash_signature: createHash('sha256').update(String(id)).digest('hex'),
    ...typeAndMessage(id - 1),
    place: `src/area-${id % 40}/step.js:${id % 300} in step${id % 25}`,
    severity,
    status,
    resolved,
    priority_level: id % 5,
    assigned_to: id % 9 === 0 ? `person-${id % 12}` : null,
    platform: newest.platform,
    app_version: newest.app_version,
    first_app_version,
    git_sha: COMMIT,
    user_id: newest.user_id,
    occurrence_count,
    first_seen_at,
    occurred_at: newest.occurred_at,
    snoozed_until: id % 50 === 0 ? END + DAY : null,
    resolved_at: resolved ? newest.occurred_at + 1 : null,
    resolved_by_name: resolved ? 'person-1' : null,
  }
}

function occurrenceRow(error_id, event, random) {
  return {
    error_id,
    payload_id: error_id,
    ...event,
    git_sha: COMMIT,
    request_url: `https://shop.example.com/orders/${Math.floor(random() * 1e6)}/items?page=3&sort=price`,
    ip_address: '198.51.100.7',
    user_agent: USER_AGENT,
    context: JSON.stringify({
      request_params: { order: Math.floor(random() * 1e6), items: [{ sku: 'A-100', quantity: 2 }] },
      tags: tagsOf(error_id),
    }),
  }
}

function typeAndMessage(group) {
  const area = AREAS[group % AREAS.length]
  const word = group % 4000 === 777 ? WORDS.rare : group % 2 === 0 ? WORDS.common : 'customer'
  return {
    error_type: `${area}${group % 250}Error`,
    message: `Step ${group} of the ${word} order could not be finished because ${area.toLowerCase()} did not respond`,
  }
}

function backtraceOf(group) {
  return Array.from(
    { length: 14 },
    (_, i) => `at step${i}Of${group} (/srv/shop/src/area-${group % 40}/module-${i}.js:${10 + i}:${5 + i})`,
  )
}

/** Occurrences of each group: 1/rank of the total, at least one. */
function zipfCounts(occurrences, groups) {
  let sum = 0
  for (let rank = 1; rank <= groups; rank++) sum += 1 / rank
  const remaining = occurrences - groups
  return Array.from({ length: groups }, (_, i) => 1 + Math.round(remaining / ((i + 1) * sum)))
}

/** Ascending times within the lifetime of a group, which is shorter than the whole period for most groups. */
function occurrenceTimes(count, random) {
  const span = DAYS * DAY * (count > 200 ? 1 : 0.05 + random() * 0.6)
  const from = END - span - random() * (DAYS * DAY - span)
  return Float64Array.from({ length: count }, () => Math.floor(from + random() * span)).sort()
}

/** Releases every nine days. Some occurrences still have the previous release. */
function versionAt(time, random) {
  const release = Math.floor(((time - (END - DAYS * DAY)) / (DAYS * DAY)) * VERSIONS)
  return `3.${Math.max(0, release - (random() < 0.2 ? 1 : 0))}.0`
}

function increment(sums, dimensions) {
  const key = Object.values(dimensions).join(' ')
  const existing = sums.get(key)
  if (existing) existing.count++
  else sums.set(key, { ...dimensions, count: 1 })
}

/** Expects hours in ascending order. */
function countVersion(versions, app_version, hour) {
  const existing = versions.get(app_version)
  if (!existing) versions.set(app_version, { app_version, count: 1, first_hour: hour, last_hour: hour })
  else {
    existing.count++
    existing.last_hour = hour
  }
}

function countUser(users, user_id, time) {
  const existing = users.get(user_id)
  if (!existing) users.set(user_id, { user_id, count: 1, first_seen_at: time, last_seen_at: time })
  else {
    existing.count++
    existing.last_seen_at = time
  }
}
