import { boolean, httpUrl, integer, orNull } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const sourceOptions = {
  source_code_cache_ttl: row<number>({
    group: 'diagnostics',
    kind: integer(0, 604_800),
    default: 3600,
    text: 'Seconds to cache source lines; 0 disables the cache.',
  }),
  enable_git_blame: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Shows who last changed the line of a frame and when, and the source at the commit of the occurrence; requires git and a repository that contains project_root.',
  }),
  git_repository_url: row<string | null>({
    group: 'diagnostics',
    kind: orNull(httpUrl),
    default: null,
    text: 'Web URL of the repository, such as https://github.com/shop/api, for links from frames; or a template with {commit}, {path} and {line}. Default: the remote origin, if enable_git_blame is on.',
  }),
}
