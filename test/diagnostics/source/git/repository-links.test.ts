import { describe, expect, test } from 'vitest'
import { commitLink, fileLink, webAddress } from '../../../../src/diagnostics/source/git/repository-links.js'

describe('the web URL of a repository', () => {
  test.each([
    ['https://github.com/shop/api.git', 'https://github.com/shop/api'],
    ['https://ada:token@github.com/shop/api.git', 'https://github.com/shop/api'],
    ['https://x-access-token:ghp_abc@github.com/shop/api', 'https://github.com/shop/api'],
    ['http://git.shop.example:3000/shop/api/', 'http://git.shop.example:3000/shop/api'],
    ['https://github.com/shop/api?token=x#y', 'https://github.com/shop/api'],
    ['git@github.com:shop/api.git', 'https://github.com/shop/api'],
    ['github.com:shop/api', 'https://github.com/shop/api'],
    ['ssh://git@gitlab.shop.example:2222/a/b/c.git', 'https://gitlab.shop.example/a/b/c'],
    ['git://git.shop.example/api.git', 'https://git.shop.example/api'],
    ['git@bitbucket.org:shop/api.git', 'https://bitbucket.org/shop/api'],
  ])('the web URL of a repository is derived from %s: %s', (remote, address) => {
    expect(webAddress(remote)).toBe(address)
  })

  test.each([
    '',
    '/srv/git/api.git',
    '../api',
    'C:\\git\\api',
    'C:/git/api',
    'file:///srv/git/api.git',
    'javascript:alert(1)',
    'javascript://github.com/%0aalert(1)',
    'data:text/html,x',
    'ext::sh -c touch% pwned',
    'https://',
    'https:///x',
    'https://a b/c',
    'git@github.com:',
  ])('returns no web URL for %j', (remote) => {
    expect(webAddress(remote)).toBeNull()
  })
})

describe('the link to a line', () => {
  const place = { commit: 'abc1234', path: 'src/a b#c?.ts', line: 7 }
  const path = 'src/a%20b%23c%3F.ts'
  test.each([
    [
      'https://github.com/s/a',
      `https://github.com/s/a/blob/abc1234/${path}#L7`,
      'https://github.com/s/a/commit/abc1234',
    ],
    [
      'https://gitlab.shop.example/s/a',
      `https://gitlab.shop.example/s/a/-/blob/abc1234/${path}#L7`,
      'https://gitlab.shop.example/s/a/-/commit/abc1234',
    ],
    [
      'https://bitbucket.org/s/a',
      `https://bitbucket.org/s/a/src/abc1234/${path}#lines-7`,
      'https://bitbucket.org/s/a/commits/abc1234',
    ],
    [
      'https://codeberg.org/s/a',
      `https://codeberg.org/s/a/src/commit/abc1234/${path}#L7`,
      'https://codeberg.org/s/a/commit/abc1234',
    ],
    [
      'https://gitea.example/s/a',
      `https://gitea.example/s/a/src/commit/abc1234/${path}#L7`,
      'https://gitea.example/s/a/commit/abc1234',
    ],
    ['https://code.example/x/{commit}?f={path}&l={line}', `https://code.example/x/abc1234?f=${path}&l=7`, null],
  ])('the link to a line has the format of %s', (repository, file, commit) => {
    expect(fileLink(repository, place)).toBe(file)
    expect(commitLink(repository, 'abc1234')).toBe(commit)
  })
})
