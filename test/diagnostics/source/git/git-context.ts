import type { Context } from '../../../../src/context.js'
import { type FrameHistory, loadHistories } from '../../../../src/diagnostics/source/frame-history.js'
import { loadSources, type SourceLines } from '../../../../src/diagnostics/source/source-code.js'
import { createRedactor } from '../../../../src/model/redaction/redaction.js'
import type { Options } from '../../../../src/options.js'
import { eventually, NOON } from '../../../support/tracker.js'

/** Creates the part of a tracker context that frame lookups need, for a project folder. */
export function gitContext(project_root: string, settings: Partial<Options> = {}) {
  const clock = { now: NOON }
  const config = {
    project_root,
    source_code_context_lines: 2,
    source_code_cache_ttl: 3600,
    enable_git_blame: true,
    git_repository_url: null,
    git_sha: null,
    ...settings,
  }
  const context = { config, redactor: createRedactor([]), now: () => clock.now } as unknown as Context
  return { context, clock }
}

interface Asked {
  file: string
  line_number?: number
  git_sha?: string | null
}

/** History of a frame, as soon as git has responded. */
export async function lineHistory(
  context: Context,
  { file, line_number = 1, git_sha = null }: Asked,
): Promise<{ history: FrameHistory | null; note: string | null }> {
  let histories = await loadHistories(context, [{ file, line_number }], git_sha)
  // Without a note, the lookup is pending or the frame was rejected before git ran.
  await eventually(async () => {
    histories = await loadHistories(context, [{ file, line_number }], git_sha)
    return histories.note !== null || !histories.frames[0]?.is_pending
  }, 'git has answered')
  return { history: histories.frames[0] ?? null, note: histories.note }
}

/** Returns the source of a frame, at its commit if available. */
export async function sourceAt(
  context: Context,
  { file, line_number = 1, git_sha = null }: Asked,
  commit: string | null = null,
): Promise<SourceLines | null> {
  let source: SourceLines | null = null
  await eventually(async () => {
    source = (await loadSources(context, [{ file, line_number }], { git_sha }))[0] ?? null
    return commit === null || (source as SourceLines | null)?.commit === commit
  }, `the source is that of ${commit}`)
  return source
}
