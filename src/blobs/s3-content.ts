import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { placeOf, type ByteRange, type Content } from './content.ts'
import type { Digest } from './digest.ts'

export interface BucketOptions {
  readonly bucket: string
  /** Of a store that is not Amazon's own. */
  readonly endpoint: string | undefined
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Stands before the names of what is kept here, where other things are kept in the bucket too: `lfs/`. */
  readonly prefix?: string
}

/** Of one upload in pieces; four pieces are on their way at a time. */
const partSize = 16 * 1024 * 1024

/** Content in a bucket of S3 or of a store that speaks like it. */
export class BucketContent implements Content, AsyncDisposable {
  readonly #client: S3Client
  readonly #sdk: typeof import('@aws-sdk/client-s3')
  readonly #bucket: string
  readonly #prefix: string

  private constructor(
    sdk: typeof import('@aws-sdk/client-s3'),
    client: S3Client,
    bucket: string,
    prefix: string,
  ) {
    this.#sdk = sdk
    this.#client = client
    this.#bucket = bucket
    this.#prefix = prefix
  }

  /** The client is large: it is loaded only where it is used. */
  static async open({
    bucket,
    endpoint,
    region,
    prefix = '',
    ...credentials
  }: BucketOptions): Promise<BucketContent> {
    const sdk = await import('@aws-sdk/client-s3')
    const client = new sdk.S3Client({
      region,
      credentials,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      // Stores that only speak like S3 know no other checksums; what is stored is proven by its digest.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    })
    return new BucketContent(sdk, client, bucket, prefix)
  }

  async adopt(file: string, digest: Digest): Promise<void> {
    const { Upload } = await import('@aws-sdk/lib-storage')
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#at(digest), Body: createReadStream(file, { highWaterMark: 1024 * 1024 }) },
      partSize,
    })
    await upload.done()
  }

  async read(digest: Digest, range?: ByteRange): Promise<Readable> {
    const { Body } = await this.#client.send(
      new this.#sdk.GetObjectCommand({
        ...this.#at(digest),
        ...(range !== undefined && { Range: `bytes=${range.start}-${range.end}` }),
      }),
    )
    return Body as Readable
  }

  async has(digest: Digest): Promise<boolean> {
    try {
      await this.#client.send(new this.#sdk.HeadObjectCommand(this.#at(digest)))
      return true
    } catch (error) {
      if (error instanceof this.#sdk.NotFound) return false
      throw error
    }
  }

  async remove(digest: Digest): Promise<void> {
    await this.#client.send(new this.#sdk.DeleteObjectCommand(this.#at(digest)))
  }

  #at(digest: Digest): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${placeOf(digest)}` }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy()
  }
}
