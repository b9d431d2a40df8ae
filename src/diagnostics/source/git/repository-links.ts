/**
 * Where a repository is looked at, by the address it is cloned from: without credentials, and only what a browser opens.
 *
 * @example
 * webAddress('git@github.com:shop/api.git') // 'https://github.com/shop/api'
 */
export function webAddress(remote: string): string | null {
  const short = /^(?:[\w.-]+@([\w.-]+)|([\w-]+\.[\w.-]+)):(?!\/\/)([^\s\\]+)$/.exec(remote)
  const address = short ? `ssh://${short[1] ?? short[2]}/${short[3]}` : remote
  const match = /^(https?|ssh|git):\/\/(?:[^/@\s]*@)?([\w.-]+|\[[\da-f:]+\])(:\d+)?\/([^\s?#\\]+)/i.exec(address)
  if (!match) return null
  const [, scheme = '', host = '', port = '', path = ''] = match
  const is_web = /^https?$/i.test(scheme)
  const shown = `${is_web ? scheme.toLowerCase() : 'https'}://${host}${is_web ? port : ''}`
  const name = path
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/^\/+/, '')
  return name === '' || !URL.canParse(`${shown}/${name}`) ? null : new URL(`${shown}/${name}`).href
}

export interface RepositoryPlace {
  commit: string
  /** As git names it. */
  path: string
  line: number | null
}

/** The address of a line at a commit, in the shape of the host it lies at; a template says the shape itself. */
export function fileLink(repository: string, { commit, path, line }: RepositoryPlace): string {
  const file = path.split('/').map(encodeURIComponent).join('/')
  if (isTemplate(repository)) {
    const values: Record<string, string> = { commit, path: file, line: String(line ?? 1) }
    return repository.replace(/\{(commit|path|line)\}/g, (_, name: string) => values[name] ?? '')
  }
  const at = (anchor: string) => (line === null ? '' : `#${anchor}${line}`)
  switch (kindOf(repository)) {
    case 'gitlab':
      return `${repository}/-/blob/${commit}/${file}${at('L')}`
    case 'bitbucket':
      return `${repository}/src/${commit}/${file}${at('lines-')}`
    case 'gitea':
      return `${repository}/src/commit/${commit}/${file}${at('L')}`
    default:
      return `${repository}/blob/${commit}/${file}${at('L')}`
  }
}

/** The address of a commit itself; a template tells nothing of it. */
export function commitLink(repository: string, commit: string): string | null {
  if (isTemplate(repository)) return null
  const kind = kindOf(repository)
  return `${repository}/${kind === 'gitlab' ? '-/commit' : kind === 'bitbucket' ? 'commits' : 'commit'}/${commit}`
}

export function isTemplate(repository: string): boolean {
  return repository.includes('{path}')
}

/** Hosts of one's own are mostly called by what runs there; all others are taken for the shape that most know. */
function kindOf(repository: string): 'github' | 'gitlab' | 'bitbucket' | 'gitea' {
  const { hostname } = new URL(repository)
  if (hostname.includes('gitlab')) return 'gitlab'
  if (hostname.includes('bitbucket')) return 'bitbucket'
  return /gitea|forgejo|codeberg/.test(hostname) ? 'gitea' : 'github'
}
