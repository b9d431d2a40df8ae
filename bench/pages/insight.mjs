import { createHash } from 'node:crypto'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const CASCADES = 2000
const TENANTS = 2000
/** Limits of the tracker per error, and the mark for further values. */
const MAX_TAG_VALUES = 50
const MAX_SEARCHABLE_TAGS = 20
const MORE_VALUES = ''

/** Features of an error: frames without line numbers, and words of the message without numbers. */
export async function addFeatures(error_id, message, backtrace, add) {
  const frames = backtrace.map((line) => `f ${line.replace(/:\d+:\d+\)$/, '')}`)
  const words = message
    .toLowerCase()
    .replace(/\d+/g, '<n>')
    .split(' ')
    .map((word) => `w ${word}`)
  for (const name of new Set([...frames, ...words])) {
    const feature = createHash('sha1').update(name).digest().readUIntBE(0, 6)
    await add('faultboard_error_features', { error_id, feature })
  }
}

/**
 * Adds the tags of an error, which its search texts contain too. A fifth of all errors have the same region, and frequent
 * errors have more tenants than are stored.
 */
export async function addTags(error_id, occurrences, random, add) {
  const tenantNumbers = Array.from({ length: Math.min(occurrences, 2 * MAX_TAG_VALUES) }, () =>
    Math.floor(random() ** 2 * TENANTS),
  )
  const tenants = [...new Set(tenantNumbers)].map((tenant) => ['tenant', `tenant-${tenant}`])
  const tags = [...Object.entries(tagsOf(error_id)), ...tenants.slice(0, MAX_TAG_VALUES)]
  const hasMore = tenants.length > MAX_TAG_VALUES
  for (const [tag_key, tag_value] of hasMore ? [...tags, ['tenant', MORE_VALUES]] : tags)
    await add('faultboard_error_tags', { error_id, tag_key, tag_value })
  const search_text = tags
    .slice(0, MAX_SEARCHABLE_TAGS)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n')
  const digest = createHash('sha256').update(search_text).digest('hex')
  await add('faultboard_search_history', { error_id, kind: 'tag', digest, search_text })
}

/** Tags that all occurrences of an error share. */
export function tagsOf(error_id) {
  return { region: `region-${error_id % 5}`, component: `component-${error_id % 40}` }
}

/** Adds comments and activities to every twentieth error. */
export async function addCommentsAndActivities(error_id, time, add) {
  if (error_id % 20 !== 1) return
  for (let i = 1; i <= 4; i++) {
    const created_at = time + i * HOUR
    await add('faultboard_comments', { error_id, author_name: `person-${i}`, body: 'Seen it again today.', created_at })
    await add('faultboard_activities', {
      error_id,
      actor: `person-${i}`,
      action: 'status',
      from_value: 'new',
      to_value: 'investigating',
      created_at,
    })
  }
}

/** Adds the first occurrence of each version on each platform and in each environment. */
export async function addReleases(versions, { applications, platforms, environments }, start, days, add) {
  for (const [i, version] of versions.entries()) {
    const first_seen_at = Math.floor(start + (i / versions.length) * days * DAY)
    for (const application_id of applications)
      for (const platform of platforms)
        for (const environment of environments)
          await add('faultboard_releases', { application_id, platform, version, environment, first_seen_at })
  }
}

/** Adds baselines of every type and platform, per hour and per day. `counts` contains all days. */
export async function addBaselines(counts, days, now, add) {
  for (const { application_id, error_type, platform, environment, count } of counts) {
    if (count < 10) continue
    for (const granularity of ['hour', 'day']) {
      const sample_count = granularity === 'hour' ? days * 24 : days
      const mean = count / sample_count
      await add('faultboard_baselines', {
        application_id,
        error_type,
        platform,
        environment,
        granularity,
        mean: mean + 0.001,
        std_dev: Math.sqrt(mean) + 0.001,
        sample_count,
        occurrence_count: count,
        calculated_at: now,
      })
    }
  }
}

/** Adds cascades, mostly between frequent errors. */
export async function addCascades(groups, now, random, add) {
  const pairs = new Set()
  while (pairs.size < CASCADES) {
    const [parent, child] = [1 + Math.floor(random() ** 3 * groups), 1 + Math.floor(random() ** 3 * groups)]
    if (parent === child || pairs.has(`${parent} ${child}`)) continue
    pairs.add(`${parent} ${child}`)
    const followed_count = 3 + Math.floor(random() * 40)
    const parent_count = followed_count + Math.floor(random() * 60)
    await add('faultboard_cascades', {
      parent_error_id: parent,
      child_error_id: child,
      parent_count,
      followed_count,
      probability: followed_count / (parent_count + 0.001),
      average_delay_ms: Math.floor(random() * 60_000),
      first_detected_at: now - 20 * DAY,
      last_detected_at: now - Math.floor(random() * 10 * DAY),
    })
  }
}
