import type { Options } from '../config/options.js'
import type { Context } from '../context.js'
import { ownApplicationId } from '../store/applications.js'
import { activeChannels } from './channels/channels.js'
import type { AssignedErrors, Digest, DigestNotice } from './content/notice.js'
import { writeDeliveries } from './delivery/plan-deliveries.js'

/** Returns true if the configuration includes a channel for digests. */
export function isDigestEnabled({ config }: Pick<Context, 'config'>): boolean {
  return config.digest_frequency !== 'never' && activeChannels(config).some(({ supports }) => supports('digest'))
}

/**
 * Creates the digest of a period once across all processes and stores its deliveries. Recipients with assigned errors
 * receive a digest of their own; all other recipients share one email.
 */
export async function sendDigest(
  context: Context,
  digest: Digest,
  assignedByRecipient: ReadonlyMap<string, AssignedErrors> = new Map(),
): Promise<void> {
  const { config, database, outbox, now } = context
  const application_id = await ownApplicationId(context)
  const key = `digest:${application_id ?? 0}:${digest.from}`
  const deliveries = activeChannels(config)
    .filter(({ supports }) => supports('digest'))
    .flatMap(({ name }) =>
      recipientParts(config, assignedByRecipient).map((part, i) => ({
        ...{ key: `${key}:${name}${i === 0 ? '' : `:${i}`}`, channel: name, error_id: null, application_id },
        notice: digestNotice(context, digest, part),
        // Digests have their own schedule and ignore quiet hours.
        ...{ state: 'pending' as const, run_at: now() },
      })),
    )
  const [first] = deliveries
  if (!first) return
  outbox.noteWrite()
  await database.write(async (trx) => {
    // A repeated job may find other assignments. It must not send a second digest to a recipient.
    const stored = await trx
      .selectFrom('faultboard_deliveries')
      .select('id')
      .where('idempotency_key', '=', first.key)
      .executeTakeFirst()
    if (!stored) await writeDeliveries(trx, database.dialect, deliveries, now())
  })
}

interface DigestPart {
  recipients?: readonly string[]
  assigned?: AssignedErrors
}

/** Recipients of each email. Without assigned errors, one email to all recipients. */
function recipientParts(
  { notification_email_recipients }: Options,
  assignedByRecipient: ReadonlyMap<string, AssignedErrors>,
): DigestPart[] {
  const personal = [...assignedByRecipient].filter(([, { total }]) => total > 0)
  if (personal.length === 0) return [{}]
  const personalRecipients = new Set(personal.map(([recipient]) => recipient))
  const shared = notification_email_recipients.filter((recipient) => !personalRecipients.has(recipient))
  return [
    ...(shared.length > 0 ? [{ recipients: shared }] : []),
    ...personal.map(([recipient, assigned]) => ({ recipients: [recipient], assigned })),
  ]
}

function digestNotice({ config, now }: Context, digest: Digest, { recipients, assigned }: DigestPart): DigestNotice {
  return {
    event: 'digest',
    application_name: config.application_name,
    environment: config.environment,
    at: now(),
    severity: 'low',
    digest: { ...digest, ...(assigned && { assigned_errors: assigned }) },
    ...(recipients && { recipients }),
  }
}
