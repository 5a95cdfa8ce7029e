import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readLdapConfig } from './config.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'guildhall-ldap-'))
afterAll(() => rmSync(folder, { recursive: true }))

const usual = { label: 'Main', host: 'ldap.example.org', encryption: 'plain', uid: 'uid', base: 'dc=example' }

function read(content: unknown, environment: NodeJS.ProcessEnv = {}) {
  const file = path.join(folder, 'ldap.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return readLdapConfig(file, environment)
}
const server = (more: Record<string, unknown>, environment?: NodeJS.ProcessEnv) =>
  read({ servers: { main: { ...usual, ...more } } }, environment).servers[0]!

describe('the configuration of directories', () => {
  test('has the usual values for what is not said', () => {
    expect(server({})).toMatchObject({
      provider: 'ldapmain',
      hosts: [['ldap.example.org', 389]],
      timeout: 10_000,
      activeDirectory: true,
      verifyCertificates: true,
      attributes: { username: ['uid'], email: ['mail', 'email', 'userPrincipalName'] },
      password: '',
    })
    expect(server({ encryption: 'simple_tls' }).hosts).toEqual([['ldap.example.org', 636]])
    expect(readLdapConfig(undefined, {}).servers).toEqual([])
  })

  test('takes a secret from a file or the environment', () => {
    const file = path.join(folder, 'secret')
    writeFileSync(file, 'of a file\n')
    expect(server({ password_file: file }).password).toBe('of a file')
    expect(server({ password_env: 'PASS' }, { PASS: 'of the environment' }).password).toBe(
      'of the environment',
    )
    expect(() => server({ password_env: 'PASS' })).toThrow('LDAP_CONFIG: main needs the variable PASS.')
    expect(() => server({ password: 'a', password_file: file })).toThrow('has its password in several places')
  })

  test('says where a fault is', () => {
    const { host: _host, ...hostless } = usual
    const cases: [unknown, string][] = [
      ['{', 'LDAP_CONFIG: '],
      [{ servers: { main: hostless } }, 'LDAP_CONFIG: main needs host.'],
      [
        { servers: { main: { ...usual, encryption: 'tls' } } },
        'main.encryption needs one of plain, start_tls, simple_tls.',
      ],
      [{ servers: { main: { ...usual, bse: 'x' } } }, 'main has the unknown key "bse".'],
      [{ servers: { main: { ...usual, base: 'people' } } }, 'main.base is no distinguished name.'],
      [{ servers: { main: { ...usual, user_filter: '(a=' } } }, 'main.user_filter is no filter.'],
      [{ servers: { main: { ...usual, timeout: 'long' } } }, 'main.timeout is no number from 0 to 3600.'],
      [{ servers: { main: { ...usual, sync_name: 'yes' } } }, 'main.sync_name is not true or false.'],
      [{ servers: { 'a b': usual } }, 'a b is no name of a server.'],
      [{ sync: { removal_share: 2 } }, 'sync.removal_share is no number from 0 to 1.'],
    ]
    for (const [content, text] of cases) expect(() => read(content), text).toThrow(text)
    expect(() => readLdapConfig(path.join(folder, 'none'), {})).toThrow('cannot be read (ENOENT)')
  })

  test('has each key in its documentation', () => {
    const source = readFileSync(path.join(import.meta.dirname, 'config.ts'), 'utf8')
    const names = [...source.matchAll(/(?:keys|sync|attributes)\.(?:\w+)\('(\w+)'|\bfile\('(\w+)'/g)].map(
      ([, one, other]) => one ?? other!,
    )
    const text = readFileSync(path.join(import.meta.dirname, '../../../docs/ldap.md'), 'utf8')
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})
