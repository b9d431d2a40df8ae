import { initial } from './0001-initial.js'
import { environments } from './0002-environments.js'
import { tags } from './0003-tags.js'
import { apiTokens } from './0004-api-tokens.js'
import { audit } from './0005-audit.js'
import { people } from './0006-people.js'
import { deliveryEnvironments } from './0007-delivery-environments.js'
import { environmentIndexes } from './0008-environment-indexes.js'
import { diagnosticEnvironments } from './0009-diagnostic-environments.js'
import type { Migration } from './table.js'

/** All migrations in order. A released migration never changes. Add a new migration instead. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-environments': environments,
  '0003-tags': tags,
  '0004-api-tokens': apiTokens,
  '0005-audit': audit,
  '0006-people': people,
  '0007-delivery-environments': deliveryEnvironments,
  '0008-environment-indexes': environmentIndexes,
  '0009-diagnostic-environments': diagnosticEnvironments,
}
