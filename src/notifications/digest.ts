import type { Context } from '../context.js'
import { ownApplicationId } from '../store/applications.js'
import { activeChannels } from './channels/channels.js'
import type { Digest, DigestNotice } from './content/notice.js'
import { writeDeliveries } from './delivery/write-deliveries.js'
import { dispatchDue } from './rules/dispatch.js'

/** Whether anybody gets a digest as things are configured. */
export function isDigestWanted({ config }: Pick<Context, 'config'>): boolean {
  return config.digest_frequency !== 'never' && activeChannels(config).some(({ carries }) => carries('digest'))
}

/** Writes down the mail of a period, once, whichever process does it, and hands it over. */
export async function sendDigest(context: Context, digest: Digest): Promise<void> {
  const { config, database, now } = context
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
    .filter(({ carries }) => carries('digest'))
    .map(({ name }) => ({
      ...{
        key: `digest:${application_id ?? 0}:${digest.from}:${name}`,
        channel: name,
        notice,
        error_id: null,
        application_id,
      },
      // It has an hour of its own.
      ...{ state: 'pending' as const, run_at: now() },
    }))
  await database.write((trx) => writeDeliveries(trx, database.dialect, deliveries, now()))
  await dispatchDue(context)
}
