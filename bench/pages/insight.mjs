import { createHash } from 'node:crypto'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const CASCADES = 2000

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

/** Adds comments and activities to every twentieth error. */
export async function addTalk(error_id, time, add) {
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

/** Adds the first occurrence of each version on each platform. */
export async function addReleases(versions, platforms, start, days, add) {
  for (const platform of platforms) {
    for (const [i, version] of versions.entries()) {
      const first_seen_at = Math.floor(start + (i / versions.length) * days * DAY)
      for (const environment of ['production', 'staging'])
        await add('faultboard_releases', { application_id: 1, platform, version, environment, first_seen_at })
    }
  }
}

/** Adds baselines of every type and platform, per hour and per day. `counts` contains all days. */
export async function addBaselines(counts, days, now, add) {
  for (const { error_type, platform, environment, count } of counts) {
    if (count < 10) continue
    for (const granularity of ['hour', 'day']) {
      const sample_count = granularity === 'hour' ? days * 24 : days
      const mean = count / sample_count
      await add('faultboard_baselines', {
        application_id: 1,
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
