import type { Context } from '../context.js'
import { ownApplicationId } from '../store/applications.js'
import { activeChannels } from './channels/channels.js'
import type { Digest, DigestNotice } from './content/notice.js'
import { writeDeliveries } from './delivery/plan-deliveries.js'

/** Whether the configuration includes a channel for digests. */
export function isDigestEnabled({ config }: Pick<Context, 'config'>): boolean {
  return config.digest_frequency !== 'never' && activeChannels(config).some(({ supports }) => supports('digest'))
}

/** Creates the digest of a period once across all processes and stores its deliveries. */
export async function sendDigest(context: Context, digest: Digest): Promise<void> {
  const { config, database, outbox, now } = context
  const notice: DigestNotice = {
    event: 'digest',
    application_name: config.application_name,
    environment: config.environment,
    at: now(),
    severity: 'low',
    digest,
  }
  const application_id = await ownApplicationId(context)
  const deliveries = activeChannels(config)
    .filter(({ supports }) => supports('digest'))
    .map(({ name }) => ({
      ...{
        key: `digest:${application_id ?? 0}:${digest.from}:${name}`,
        channel: name,
        notice,
        error_id: null,
        application_id,
      },
      // Digests have their own schedule and ignore quiet hours.
      ...{ state: 'pending' as const, run_at: now() },
    }))
  outbox.noteWrite()
  await database.write((trx) => writeDeliveries(trx, database.dialect, deliveries, now()))
}
