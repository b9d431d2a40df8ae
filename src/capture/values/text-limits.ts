import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'

/** Maximum number of characters to store per field. */
export const TEXT_LIMITS = {
  error_type: 255,
  message: 10_000,
  cause_message: 2000,
  place: 500,
  platform: 64,
  environment: MAX_ENVIRONMENT_LENGTH,
  app_version: 128,
  git_sha: 64,
  user_id: 255,
  request_url: 2048,
  ip_address: 64,
  user_agent: 512,
}

/**
 * Number of characters to read before redaction. Text is truncated afterward, because part of a secret would not be
 * recognized.
 */
export function readLimit(field: keyof typeof TEXT_LIMITS): number {
  return 2 * TEXT_LIMITS[field]
}
