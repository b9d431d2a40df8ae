import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadHistories } from '../../../../src/diagnostics/source/frame-history.js'
import { describeWithGit, freshRepository, repositoryAt } from '../../../support/repository.js'
import { eventually, temporaryFolder } from '../../../support/tracker.js'
import { gitContext, lineHistory, sourceAt } from './git-context.js'

const CART = ['export function total(items) {', '  return sum(items)', '}', '', 'export const currency = 1', '']
const FIXED = CART.with(1, '  return Math.round(sum(items))')

/** Creates two commits: Ada wrote the file, Bob changed its second line. */
function shop() {
  const repository = freshRepository()
  repository.write('src/cart.ts', CART.join('\n'))
  const first = repository.commit('Count the cart', { at: '2025-12-01T08:00:00Z' })
  repository.write('src/cart.ts', FIXED.join('\n'))
  const second = repository.commit('Fix rounding of totals', { author: 'Bob <bob@shop.example>' })
  return { ...repository, first, second, ...gitContext(repository.folder) }
}

describeWithGit('the last change of a line', () => {
  test('the last change of a line contains author, time, commit and summary', async () => {
    const { context, second } = shop()
    const { history, note } = await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })
    expect(note).toBeNull()
    expect(history).toMatchObject({
      change: {
        commit: second,
        author: 'Bob',
        changed_at: '2026-01-10T12:00:00.000Z',
        summary: 'Fix rounding of totals',
      },
      commit: null,
      is_pending: false,
      note: null,
    })
    expect((await lineHistory(context, { file: 'src/cart.ts', line_number: 3 })).history?.change?.author).toBe('Ada')
  })

  test('the last change of a line is looked up at the commit of the occurrence', async () => {
    const { context, first, second, write, commit } = shop()
    write('src/cart.ts', ['// one', '// two', ...FIXED].join('\n'))
    commit('Move everything')
    const place = { file: 'src/cart.ts', line_number: 2, git_sha: first.slice(0, 9) }
    expect((await lineHistory(context, place)).history).toMatchObject({ change: { author: 'Ada' }, commit: first })
    expect(await sourceAt(context, place, first)).toMatchObject({ commit: first, lines: CART.slice(0, 4) })
    const later = { ...place, git_sha: second }
    expect((await lineHistory(context, later)).history).toMatchObject({ change: { author: 'Bob' }, commit: second })
    expect((await sourceAt(context, later, second))?.lines[1]).toBe(FIXED[1])
  })

  test('uses the working copy if the commit is unknown or checked out', async () => {
    const { context, second } = shop()
    const line = { file: 'src/cart.ts', line_number: 2 }
    for (const git_sha of ['0123456789abcdef0123456789abcdef01234567', null]) {
      expect((await lineHistory(context, { ...line, git_sha })).history).toMatchObject({
        change: { author: 'Bob' },
        commit: null,
      })
      expect((await sourceAt(context, { ...line, git_sha }))?.commit).toBeNull()
    }
    expect((await lineHistory(context, { ...line, git_sha: second })).history).toMatchObject({ commit: second })
  })

  test('follows lines moved by uncommitted changes and marks new lines', async () => {
    const { context, write } = shop()
    write('src/cart.ts', [FIXED[0], '  // new', ...FIXED.slice(1)].join('\r\n'))
    const at = async (line_number: number) => (await lineHistory(context, { file: 'src/cart.ts', line_number })).history
    expect((await at(1))?.change?.author).toBe('Ada')
    expect(await at(2)).toMatchObject({ change: null, note: 'This line is not committed yet.' })
    expect((await at(3))?.change?.author).toBe('Bob')
  })

  test('the last change of a line is found between two uncommitted edits and omitted if ambiguous', async () => {
    const { context, write, commit } = shop()
    const body = ['  check(items)', '  log(1)', '  log(1)', '  return sum(items)']
    write('src/cart.ts', [CART[0], ...body, '}', ''].join('\n'))
    commit('Check the items', { author: 'Eve <eve@shop.example>' })
    write('src/cart.ts', [CART[0], '  // edit', body[0], '  // edit', body[1], '  // edit', '}', ''].join('\n'))
    const at = async (line_number: number) => (await lineHistory(context, { file: 'src/cart.ts', line_number })).history
    expect(await at(3)).toMatchObject({ change: { author: 'Eve' }, note: null })
    expect(await at(4)).toMatchObject({ change: null, note: 'This line is not committed yet.' })
    const note = 'The last change of this line is unknown, because the file has uncommitted changes.'
    expect(await at(5)).toMatchObject({ change: null, note })
  })

  test('the last change of a line is found if the configured ignore-revs file does not exist', async () => {
    const { context } = shop()
    const home = realpathSync(temporaryFolder())
    writeFileSync(join(home, '.gitconfig'), '[blame]\n  ignoreRevsFile = .git-blame-ignore-revs\n')
    vi.stubEnv('HOME', home)
    vi.stubEnv('XDG_CONFIG_HOME', home)
    const { history } = await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })
    vi.unstubAllEnvs()
    expect(history?.change?.author).toBe('Bob')
  })

  test('skips commits in the ignore-revs file', async () => {
    const { context, folder, git, second } = shop()
    writeFileSync(join(folder, '.git', 'ignored'), `${second}\n`)
    git('config', 'blame.ignoreRevsFile', '.git/ignored')
    expect((await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })).history?.change?.author).toBe('Ada')
  })

  test('the last change of a line is shown for a deleted file at its commit', async () => {
    const { context, folder, first, commit } = shop()
    renameSync(join(folder, 'src'), join(folder, 'lost'))
    commit('Rename')
    const place = { file: 'src/cart.ts', line_number: 2, git_sha: first }
    expect((await sourceAt(context, place, first))?.lines).toEqual(CART.slice(0, 4))
    expect((await lineHistory(context, place)).history).toMatchObject({ change: { author: 'Ada' }, commit: first })
  })

  test('the last change of a line is found in a subfolder of a repository and with a detached HEAD', async () => {
    const repository = freshRepository()
    repository.write('packages/api/src/a.js', 'one()\n')
    const sha = repository.commit('Begin')
    repository.git('checkout', '--quiet', '--detach')
    repository.git('remote', 'add', 'origin', 'git@github.com:shop/all.git')
    const { context } = gitContext(join(repository.folder, 'packages/api'))
    const { history } = await lineHistory(context, { file: 'src/a.js' })
    expect(history?.change?.author).toBe('Ada')
    expect(history?.link).toBe(`https://github.com/shop/all/blob/${sha}/packages/api/src/a.js#L1`)
    expect(history?.change?.link).toBe(`https://github.com/shop/all/commit/${sha}`)
  })

  test('the last change of a line is found in a submodule and in another working tree', async () => {
    const inner = freshRepository()
    inner.write('tool.js', 'tool()\n')
    const sha = inner.commit('Inside')
    const outer = shop()
    outer.git('submodule', '--quiet', 'add', inner.folder, 'vendored')
    outer.commit('Add a submodule')
    const place = { file: 'vendored/tool.js', git_sha: outer.first }
    expect((await lineHistory(outer.context, place)).history?.change).toMatchObject({ commit: sha, summary: 'Inside' })
    const other = join(realpathSync(temporaryFolder()), 'tree')
    outer.git('worktree', 'add', '--quiet', '--detach', other, outer.first)
    const { history } = await lineHistory(gitContext(other).context, { file: 'src/cart.ts', line_number: 2 })
    expect(history?.change?.commit).toBe(outer.first)
  })

  test('the last change of a line is omitted at the end of a shallow clone', async () => {
    const { folder, second } = shop()
    const clone = join(realpathSync(temporaryFolder()), 'clone')
    repositoryAt(folder).git('clone', '--quiet', '--depth=1', `file://${folder}`, clone)
    const { history } = await lineHistory(gitContext(clone).context, {
      file: 'src/cart.ts',
      line_number: 3,
      git_sha: second,
    })
    expect(history).toMatchObject({ change: null, note: expect.stringContaining('shallow clone') })
  })

  test('the last change of a line is omitted for a file that is not in the repository', async () => {
    const { context, write } = shop()
    write('dist/built.js', 'x()\n')
    expect((await lineHistory(context, { file: 'dist/built.js' })).history).toMatchObject({
      change: null,
      note: 'This file is not in the repository.',
    })
  })

  test('the last change of a line is cached for source_code_cache_ttl seconds, and failures for a minute', async () => {
    const { context, clock, folder, commit, write } = shop()
    const readAuthor = async () =>
      (await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })).history?.change?.author
    expect(await readAuthor()).toBe('Bob')
    renameSync(join(folder, '.git'), join(folder, '.away'))
    expect(await readAuthor()).toBe('Bob')
    clock.now += 61_000
    expect(await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })).toMatchObject({
      history: { change: null },
      note: expect.stringContaining('not in a Git repository'),
    })
    renameSync(join(folder, '.away'), join(folder, '.git'))
    write('src/cart.ts', FIXED.with(1, '  return 0').join('\n'))
    commit('Give up', { author: 'Eve <eve@shop.example>' })
    expect((await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })).note).toContain(
      'not in a Git repository',
    )
    clock.now += 61_000
    expect(await readAuthor()).toBe('Eve')
  })

  test('the last change of a line is limited in length and contains no control characters', async () => {
    const repository = freshRepository()
    repository.write('a.js', 'a()\n')
    repository.write('b.js', 'b()\n')
    repository.commit(`</pre><script>alert(1)</script> \u202Egnp.exe\u0007 ${'long '.repeat(2000)}`, {
      author: `"onmouseover="alert(1)" & ${'wide'.repeat(200)} <e@shop.example>`,
    })
    const { context } = gitContext(repository.folder)
    const { author = '', summary = '' } = (await lineHistory(context, { file: 'a.js' })).history?.change ?? {}
    expect(author.length).toBeLessThanOrEqual(60)
    expect(summary.length).toBeLessThanOrEqual(120)
    expect(summary).toMatch(/^<\/pre><script>alert\(1\)<\/script> {1,3}gnp\.exe/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters under test.
    expect(author + summary).not.toMatch(/[\u0000-\u001f\u202a-\u202e]/)
  })
})

describeWithGit('git', () => {
  test('git is not run while the option is off', async () => {
    const { folder, first, git } = shop()
    git('remote', 'add', 'origin', 'https://github.com/shop/api')
    const { context } = gitContext(folder, { enable_git_blame: false })
    expect(await loadHistories(context, [{ file: 'src/cart.ts', line_number: 1 }], first)).toEqual({
      frames: [null],
      note: null,
    })
    expect((await sourceAt(context, { file: 'src/cart.ts', line_number: 2, git_sha: first }))?.lines[1]).toBe(FIXED[1])
  })

  test('git is not needed for links to a configured repository URL', async () => {
    const { folder, first } = shop()
    vi.stubEnv('PATH', '/nowhere')
    const git_repository_url = 'https://gitlab.example/shop/api'
    const { context } = gitContext(folder, { enable_git_blame: false, git_repository_url })
    const place = { file: 'src/cart.ts', line_number: 2 }
    const loadHistory = async () => (await loadHistories(context, [place], first)).frames[0]
    await eventually(async () => (await loadHistory())?.link !== null, 'the link is made')
    const history = await loadHistory()
    vi.unstubAllEnvs()
    expect(history).toMatchObject({
      link: `${git_repository_url}/-/blob/${first}/src/cart.ts#L2`,
      change: null,
      is_pending: false,
    })
  })

  test('shows a note if git is missing', async () => {
    const { context } = shop()
    vi.stubEnv('PATH', '/nowhere')
    const { history, note } = await lineHistory(context, { file: 'src/cart.ts', line_number: 2 })
    vi.unstubAllEnvs()
    expect(note).toBe('Git history is not available: git is not installed on this machine.')
    expect(history).toMatchObject({ change: null, note: null })
    expect((await sourceAt(context, { file: 'src/cart.ts', line_number: 2 }))?.lines[1]).toBe(FIXED[1])
  })

  test('shows a note if git fails in an empty or damaged repository', async () => {
    const empty = freshRepository()
    empty.write('a.js', 'a()\n')
    expect((await lineHistory(gitContext(empty.folder).context, { file: 'a.js' })).note).toContain(
      'Git history is not available for this line',
    )
    const broken = realpathSync(temporaryFolder())
    mkdirSync(join(broken, '.git'))
    writeFileSync(join(broken, 'a.js'), 'a()\n')
    expect((await lineHistory(gitContext(broken).context, { file: 'a.js' })).note).toMatch(/Git|git/)
  })

  test('git is not run for a repository outside the project behind a symbolic link', async () => {
    const other = freshRepository()
    other.write('secret.js', 'SECRET\n')
    const sha = other.commit('Elsewhere')
    const { context, folder } = shop()
    symlinkSync(other.folder, join(folder, 'up'))
    for (const file of ['up/secret.js', 'up/gone.js', join(other.folder, 'secret.js')]) {
      expect(await lineHistory(context, { file, git_sha: sha })).toEqual({ history: null, note: null })
      expect(await sourceAt(context, { file, git_sha: sha })).toBeNull()
    }
  })
})

describeWithGit('a hanging git process', () => {
  test('a hanging git process is killed and does not delay the page', async () => {
    const { context, folder, git } = shop()
    // Reading an ignore-revs file from a pipe without a writer never ends.
    execFileSync('mkfifo', [join(folder, 'never')])
    git('config', 'blame.ignoreRevsFile', join(folder, 'never'))
    const place = { file: 'src/cart.ts', line_number: 2 }
    expect((await loadHistories(context, [place], null)).frames[0]?.is_pending).toBe(true)
    const { history } = await lineHistory(context, place)
    expect(history).toMatchObject({ change: null, note: 'Git history is not available: git timed out.' })
    expect(existsSync(join(folder, 'never'))).toBe(true)
    const [first] = (await loadHistories(context, [place], null)).frames
    expect(first?.note).toContain('timed out')
  })
})
