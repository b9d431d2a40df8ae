import { MAX_OCCURRENCES_PER_GROUP } from './rows.mjs'
import { TABLES } from './tables.mjs'

const DAY = 86_400_000

/**
 * Writes folded rows with the bare driver, one commit per batch, like a hand-optimized program. Caches payload ids and
 * otherwise writes the rows that the schema requires. `connection` is one of connections.mjs.
 */
export class BareWriter {
  #connection
  #payloads = new Map()
  #trimmed = new Map()
  #users = new Set()

  constructor(connection) {
    this.#connection = connection
  }

  async open() {
    await this.#connection.begin()
    await this.#connection.insert(TABLES.applications, [{ name: 'bench', created_at: 0 }])
    await this.#connection.commit()
    this.application_id = (await this.#connection.all('select id from faultboard_applications'))[0].id
  }

  /** With a batch id, a retry after an unknown result of the commit can detect that the batch was written. */
  async write({ now, groups, application }, batch_id = null) {
    const connection = this.#connection
    const { application_id } = this
    await connection.begin()
    if (batch_id) await connection.insert(TABLES.batches, [{ batch_id, created_at: now }])
    const states = await connection.upsertGroups(groups.map((group) => groupRow(group, application_id)))
    const newGroups = groups.filter(({ hash_signature }) => !this.#payloads.has(hash_signature))
    if (newGroups.length > 0) await this.#writeNewGroups(newGroups, states)
    await connection.insert(
      TABLES.occurrences,
      groups.flatMap(({ hash_signature, occurrences }) =>
        occurrences.map((occurrence) => ({
          ...occurrence,
          message: null,
          error_id: states.get(hash_signature).id,
          payload_id: this.#payloads.get(hash_signature),
        })),
      ),
    )
    const sumsOf = (part, extra) =>
      groups.flatMap((group) =>
        [...group[part].values()].map((sum) => ({ ...sum, ...extra, error_id: states.get(group.hash_signature).id })),
      )
    await connection.insert(TABLES.errorHours, sumsOf('hours'))
    await connection.insert(
      TABLES.versions,
      sumByKey(sumsOf('hours').map(versionRow(application_id)), ['app_version', 'error_id']),
    )
    const users = sumsOf('users', { first_seen_at: now, last_seen_at: now })
    await connection.insert(TABLES.users, users)
    await this.#countUsers(users)
    const typeRows = groups.flatMap(({ error_type, hours }) =>
      [...hours.values()].map((sum) => ({ ...sum, error_type })),
    )
    const shared = (rows) => rows.map((row) => ({ ...row, application_id, day: row.hour - (row.hour % DAY) }))
    await connection.insert(TABLES.typeHours, sumByKey(shared(typeRows), ['error_type', 'hour']))
    await connection.insert(TABLES.typeDays, sumByKey(shared(typeRows), ['error_type', 'day']))
    await connection.insert(TABLES.applicationHours, shared(application))
    const dimensions = ['day', 'severity', 'platform', 'app_version']
    await connection.insert(TABLES.applicationDays, sumByKey(shared(application), dimensions))
    // In the same transaction, because the lock of the group prevents deadlocks with other writers.
    await this.#trim(groups, states)
    await connection.commit()
  }

  async #writeNewGroups(groups, states) {
    const id = ({ hash_signature }) => states.get(hash_signature).id
    await this.#connection.insert(
      TABLES.search,
      groups.map((group) => ({ error_id: id(group), search_text: group.search_text })),
    )
    await this.#connection.insert(
      TABLES.payloads,
      groups.map((group) => ({ error_id: id(group), ...group.payload })),
    )
    await this.#connection.insert(
      TABLES.features,
      groups.flatMap((group) => group.features.map((feature) => ({ error_id: id(group), feature }))),
    )
    const ids = groups.map(id).join(', ')
    const rows = await this.#connection.all(`select id, error_id from faultboard_payloads where error_id in (${ids})`)
    const byError = new Map(rows.map((row) => [Number(row.error_id), Number(row.id)]))
    for (const group of groups) this.#payloads.set(group.hash_signature, byError.get(id(group)))
  }

  /** Tracks first-time users in memory. With several writers, `user_count` is an estimate. */
  async #countUsers(users) {
    const newUserCounts = new Map()
    for (const { error_id, user_id } of users) {
      if (this.#users.has(`${error_id} ${user_id}`)) continue
      this.#users.add(`${error_id} ${user_id}`)
      newUserCounts.set(error_id, (newUserCounts.get(error_id) ?? 0) + 1)
    }
    for (const count of new Set(newUserCounts.values())) {
      const ids = [...newUserCounts].filter(([, userCount]) => userCount === count).map(([id]) => id)
      const places = ids.map(() => '?').join(', ')
      await this.#connection.run(
        `update faultboard_errors set user_count = coalesce(user_count, 0) + ${count} where id in (${places})`,
        ids,
      )
    }
  }

  /** Trims a group after it grew by a quarter of the limit, like the tracker. */
  async #trim(groups, states) {
    for (const { hash_signature } of groups) {
      const { id, occurrence_count } = states.get(hash_signature)
      const step = Math.floor(occurrence_count / (MAX_OCCURRENCES_PER_GROUP / 4))
      if (occurrence_count <= MAX_OCCURRENCES_PER_GROUP || this.#trimmed.get(id) === step) continue
      this.#trimmed.set(id, step)
      const [oldest] = await this.#connection.all(
        `select id, occurred_at from faultboard_occurrences where error_id = ${id} order by occurred_at desc, id desc limit 1 offset ${MAX_OCCURRENCES_PER_GROUP}`,
      )
      if (!oldest) continue
      await this.#connection.run(
        'delete from faultboard_occurrences where error_id = ? and (occurred_at < ? or (occurred_at = ? and id <= ?))',
        [id, oldest.occurred_at, oldest.occurred_at, oldest.id],
      )
    }
  }
}

function versionRow(application_id) {
  return ({ hour, ...sum }) => ({ ...sum, application_id, first_hour: hour, last_hour: hour })
}

/** Merges rows with the same key, because a statement must not update a row twice. */
function sumByKey(rows, key) {
  const sums = new Map()
  for (const row of rows) {
    const name = key.map((column) => row[column]).join('\n')
    const existing = sums.get(name)
    if (existing) existing.count += row.count
    else sums.set(name, { ...row })
  }
  return [...sums.values()]
}

function groupRow(group, application_id) {
  const { app_version, git_sha, user_id, platform } = group.newest
  return {
    ...group,
    application_id,
    occurrence_count: group.count,
    first_app_version: app_version,
    app_version,
    git_sha,
    user_id,
    platform,
  }
}
