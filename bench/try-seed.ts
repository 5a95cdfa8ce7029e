import { mkdtemp, rm, chmod } from 'node:fs/promises'
import pg from 'pg'
import path from 'node:path'
import { Service } from './service.ts'
import { seed } from './seed.ts'
import { readOptions } from './options.ts'
import { memoryOf } from './machine.ts'
import { rootToken } from './world.ts'
import { findRunningPostgres } from '../src/kernel/db/embedded/index.ts'
const d = '/tmp/bx/run'
await rm(d,{recursive:true,force:true}); await import('node:fs').then(f=>f.mkdirSync(d)); await chmod(d,0o711)
const s = await Service.start({directory:d,environment:{ROOT_TOKEN:rootToken,SECRET_KEY:'s'.repeat(32),ROLES:'web,tasks'}})
console.log(s.startedIn, await memoryOf(s.pid))
const c = await findRunningPostgres(path.join(d,'data/postgres'))
const client = new pg.Client({...c!, ssl:false}); await client.connect()
const q = client.query.bind(client)
client.query = (async (t: string, ...r: never[]) => { const b=performance.now(); const x = await (q as any)(t,...r); const ms=performance.now()-b; if(ms>300) console.log(Math.round(ms), String(t).trim().slice(0,90).replaceAll('\n',' ')); return x }) as never
const b=performance.now(); await seed(client, readOptions(process.argv.slice(2))!.scale, 's'.repeat(32)); console.log('seeded',performance.now()-b)
await client.end(); console.log('stop', await s.stop())
