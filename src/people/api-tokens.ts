import * as v from 'valibot'
import type { ApiTokenSetting } from '../config/kinds.js'
import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { choice, id, integer, optional, optionalText, requiredText } from '../model/input/input.js'
import { generateToken, hashToken } from '../model/people/api-token.js'
import { MAX_PERSON_NAME_LENGTH, ROLES, UNPRINTABLE } from '../model/people/identity.js'
import * as r from '../model/result.js'
import { DAY, MINUTE } from '../model/time.js'
import { defineCommand, defineOperation } from '../operation.js'
import type { BulkTarget } from '../store/dialect.js'
import type { Selectable } from '../store/kysely.js'
import type { ApiTokensTable } from '../store/schema.js'

/** Bounds the list. A team cannot keep track of more tokens. */
const MAX_USABLE_TOKENS = 200
const MAX_LIFETIME_DAYS = 3650
/** Number of revoked tokens to list, newest first. */
const MAX_LISTED_REVOKED = 100
const DEFAULT_CREATOR = 'api'

const TOKEN_FIELDS = {
  /** Null for a token of the option `api_tokens`. */
  id: r.nullable(r.integer),
  name: r.text,
  role: r.oneOf(ROLES),
  state: r.oneOf(['active', 'expired', 'revoked']),
  created_at: r.nullable(r.time),
  created_by: r.nullable(r.text),
  expires_at: r.nullable(r.time),
  last_used_at: r.nullable(r.time),
  revoked_at: r.nullable(r.time),
}

/** Token without its secret and hash. */
export const ApiToken = r.named('ApiToken', r.object(TOKEN_FIELDS))
export type ApiToken = v.InferOutput<typeof ApiToken>

/** Created token with its secret, which is not stored and cannot be shown again. */
export const CreatedToken = r.object({ ...TOKEN_FIELDS, token: r.text })
export type CreatedToken = v.InferOutput<typeof CreatedToken>

type TokenRow = Selectable<ApiTokensTable>

/** Lists usable tokens by name, then revoked tokens. */
export const listApiTokens = defineOperation({
  input: v.object({}),
  async run({ database, config, now }): Promise<ApiToken[]> {
    const tokens = database.read.selectFrom('faultboard_api_tokens').selectAll()
    const [usable, revoked] = await Promise.all([
      tokens.where('revoked_at', 'is', null).execute(),
      tokens.where('revoked_at', 'is not', null).orderBy('revoked_at', 'desc').limit(MAX_LISTED_REVOKED).execute(),
    ])
    const listed = [
      ...config.api_tokens.map((setting) => describeSetting(setting, now())),
      ...usable.map((row) => describeRow(row, now())),
    ]
    return [
      ...listed.sort((a, b) => a.name.localeCompare(b.name, 'en')),
      ...revoked.map((row) => describeRow(row, now())),
    ]
  },
})

export const createApiToken = defineCommand({
  input: v.object({
    name: v.pipe(
      requiredText({ max: MAX_PERSON_NAME_LENGTH }),
      v.check((name) => !UNPRINTABLE.test(name), 'must not contain control characters'),
      v.transform((name) => name.normalize('NFC')),
    ),
    role: choice(ROLES),
    /** Default: the token does not expire. */
    expires_in_days: optional(integer({ min: 1, max: MAX_LIFETIME_DAYS })),
    created_by: optionalText({ max: MAX_PERSON_NAME_LENGTH }),
  }),
  async run(
    { database, config, now },
    { name, role, expires_in_days, created_by = DEFAULT_CREATOR },
  ): Promise<CreatedToken> {
    if (config.api_tokens.some((setting) => setting.name === name))
      throw nameTakenError(name, 'in the option api_tokens')
    const token = generateToken()
    const token_hash = hashToken(token)
    const created_at = now()
    const expires_at = expires_in_days === undefined ? null : created_at + expires_in_days * DAY
    const row = await database.write(async (trx) => {
      const tokens = trx.selectFrom('faultboard_api_tokens')
      const usable = await tokens.select('id').where('revoked_at', 'is', null).execute()
      if (usable.length >= MAX_USABLE_TOKENS)
        throw new TrackerError('invalid_input', `At most ${MAX_USABLE_TOKENS} tokens can exist. Revoke one first.`)
      // Inserts nothing if the name exists.
      await database.dialect.insertMany(trx, TOKEN_ROWS, [[name, role, token_hash, created_at, created_by, expires_at]])
      const stored = await tokens.selectAll().where('name', '=', name).executeTakeFirstOrThrow()
      if (stored.token_hash === token_hash) return stored
      throw nameTakenError(name, stored.revoked_at === null ? null : 'as a revoked token')
    })
    return { ...describeRow(row, created_at), token }
  },
  audit: (_input, { name, role }) => ({ action: 'create_token', target: name, detail: role }),
})

/** Revokes a token at once, in all processes. */
export const revokeApiToken = defineCommand({
  input: v.object({ token_id: id() }),
  async run({ database, now }, { token_id }): Promise<ApiToken> {
    const row = await database.write(async (trx) => {
      const update = trx.updateTable('faultboard_api_tokens').set({ revoked_at: now() })
      const { numUpdatedRows } = await update
        .where('id', '=', token_id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst()
      const token = trx.selectFrom('faultboard_api_tokens').selectAll().where('id', '=', token_id)
      const found = await token.executeTakeFirst()
      if (found && numUpdatedRows === 0n)
        throw new TrackerError('not_possible_now', `The token "${found.name}" is already revoked.`)
      return found
    })
    if (!row) throw new TrackerError('not_found', `No API token with id ${token_id}.`)
    return describeRow(row, now())
  },
  audit: (_input, { name }) => ({ action: 'revoke_token', target: name }),
})

/** Finds a token by its hash. Not in constant time, but a partial hash does not help to guess the token. */
export async function findApiToken({ database, ready }: Context, token_hash: string): Promise<TokenRow | undefined> {
  await ready()
  return database.read
    .selectFrom('faultboard_api_tokens')
    .selectAll()
    .where('token_hash', '=', token_hash)
    .executeTakeFirst()
}

/** Stores the time of the last use of tokens, at most once a minute across all processes. */
export async function recordTokenUse({ database }: Context, token_ids: readonly number[], time: number): Promise<void> {
  await database.write((trx) =>
    trx
      .updateTable('faultboard_api_tokens')
      .set({ last_used_at: time })
      .where('id', 'in', token_ids)
      .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<=', time - MINUTE)]))
      .execute(),
  )
}

const TOKEN_ROWS: BulkTarget = {
  table: 'faultboard_api_tokens',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'role', type: 'text' },
    { name: 'token_hash', type: 'text' },
    { name: 'created_at', type: 'integer' },
    { name: 'created_by', type: 'text' },
    { name: 'expires_at', type: 'integer' },
  ],
  onConflict: { key: ['name'], update: [] },
}

function nameTakenError(name: string, place: string | null): TrackerError {
  return new TrackerError(
    'invalid_input',
    `A token with the name "${name}" already exists${place ? ` ${place}` : ''}. Choose another name.`,
  )
}

function describeRow({ token_hash: _, ...row }: TokenRow, now: number): ApiToken {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    state: row.revoked_at !== null ? 'revoked' : isExpired(row.expires_at, now) ? 'expired' : 'active',
    created_at: isoTime(row.created_at),
    created_by: row.created_by,
    expires_at: isoTime(row.expires_at),
    last_used_at: isoTime(row.last_used_at),
    revoked_at: isoTime(row.revoked_at),
  }
}

function describeSetting(setting: ApiTokenSetting, now: number): ApiToken {
  const { name, role } = setting
  const expires_at = expiryTime(setting)
  return {
    id: null,
    name,
    role,
    state: isExpired(expires_at, now) ? 'expired' : 'active',
    created_at: null,
    created_by: null,
    expires_at: isoTime(expires_at),
    last_used_at: null,
    revoked_at: null,
  }
}

export function expiryTime({ expires_at }: ApiTokenSetting): number | null {
  return expires_at ? Date.parse(expires_at) : null
}

export function isExpired(expires_at: number | null, now: number): boolean {
  return expires_at !== null && expires_at <= now
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
