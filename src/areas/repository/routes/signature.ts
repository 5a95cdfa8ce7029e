import { endpoint, project as projectKind } from '../../../access/index.ts'
import { findTag, tagRef } from '../../../git/index.ts'
import {
  Fields,
  Json,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { commitNamed, refsOf } from '../looking.ts'
import type { RepositoryServices } from '../services.ts'

const signature = {
  signature_type: OneOf('PGP', 'SSH', 'X509'),
  verification_status: OneOf('verified', 'unverified', 'unknown_key'),
  gpg_key_id: Optional(Nullable(Text())),
  gpg_key_primary_keyid: Optional(Nullable(Text())),
  gpg_key_user_name: Optional(Nullable(Text())),
  gpg_key_user_email: Optional(Nullable(Text())),
  gpg_key_subkey_id: Optional(Nullable(Text())),
  key: Optional(Json({ description: 'Of an SSH signature: the key of a user, or null' })),
  x509_certificate: Optional(Json({ description: 'Of an X.509 signature: the certificate, or null' })),
}
const CommitSignature = Fields({ ...signature, commit_source: Text() })
const TagSignature = Fields(signature)
const description = 'Signatures are told, not verified: none is ever called `verified`.'

const unknownGpgKey = {
  gpg_key_id: null,
  gpg_key_primary_keyid: null,
  gpg_key_user_name: null,
  gpg_key_user_email: null,
  gpg_key_subkey_id: null,
}

export function signatureEndpoints({ places }: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/commits/:sha/signature',
      summary: 'Get the signature of a commit',
      description,
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      answers: CommitSignature,
      refuses: { 404: 'No such commit, or it is not signed' },
      async handle({ project, params }) {
        const { commit } = await commitNamed(places, project, params.sha)
        if (commit.signature === undefined) throw notFound('Signature')
        return { ...facts(commit.signature), commit_source: 'gitaly' }
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/tags/:tag_name/signature',
      summary: 'Get the signature of a tag',
      description,
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      answers: TagSignature,
      refuses: { 404: 'No such tag, or it is not signed' },
      async handle({ project, params }) {
        const ref = tagRef(params.tag_name)
        const tag = (await refsOf(places, project))?.tags.find((known) => known.ref === ref)
        if (tag === undefined) throw notFound('Tag')
        const object = tag.annotated ? await findTag(places.of(project), tag.oid) : undefined
        if (object?.signature === undefined) throw notFound('Signature')
        return facts(object.signature)
      },
    }),
  ]
}

/** We know no keys of users for signing, so a good signature and a bad one look the same. */
function facts(signature: string): Record<string, unknown> {
  if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) {
    return { signature_type: 'SSH', verification_status: 'unknown_key', key: null }
  }
  if (signature.startsWith('-----BEGIN PGP ')) {
    return { signature_type: 'PGP', verification_status: 'unknown_key', ...unknownGpgKey }
  }
  return { signature_type: 'X509', verification_status: 'unverified', x509_certificate: null }
}
