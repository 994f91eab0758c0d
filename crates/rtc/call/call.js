// The sender of a video call: libwebrtc, unmodified, without a screen. It sends a moving picture
// and writes its statistics.
//
//     node call.js --peer "sounding-rtc-peer --corrections stock" --seconds 10
//     node call.js --socket PATH --address IP --seconds 10
//
// With --peer it starts the peer on this machine. With --socket it finds one that listens, such as
// in another namespace. Standard output has lines of JSON: {"stats":{…}} every 100 ms,
// {"connected":{}} and at the end {"summary":{…}}. With --numbered each picture has its number in
// it, for answer.js, and a line {"sent":{…}}.

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import wrtc from '@roamhq/wrtc';
import { Picture } from './picture.js';

const { values } = parseArgs({
  options: {
    peer: { type: 'string' },
    socket: { type: 'string' },
    address: { type: 'string', default: '127.0.0.1' },
    seconds: { type: 'string', default: '10' },
    width: { type: 'string', default: '640' },
    height: { type: 'string', default: '360' },
    rate: { type: 'string', default: '30' },
    'max-kbit': { type: 'string' },
    numbered: { type: 'boolean', default: false },
  },
});
const number = (name) => {
  const value = Number(values[name]);
  if (!(value > 0 && value <= 100_000)) throw new Error(`--${name} is no positive number`);
  return value;
};
const [seconds, width, height, rate] = ['seconds', 'width', 'height', 'rate'].map(number);

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const within = (ms, what, promise) =>
  Promise.race([promise, sleep(ms).then(() => Promise.reject(new Error(`${what} took longer than ${ms} ms`)))]);

/** The lines of a peer: what it says, by the name of the line, and how to speak to it. */
async function openPeer() {
  let input, output, child;
  const heard = new Map();
  const waiting = new Map();
  if (values.peer) {
    const [program, ...words] = values.peer.split(' ');
    child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.on('error', fail);
    [input, output] = [child.stdout, child.stdin];
  } else if (values.socket) {
    input = output = await connected(values.socket);
  } else {
    throw new Error('either --peer or --socket is needed');
  }
  output.on('error', () => {});
  input.on('close', () => heard.has('summary') || fail('the peer is gone'));
  createInterface({ input }).on('line', (line) => {
    const [[name, value]] = Object.entries(JSON.parse(line));
    heard.set(name, value);
    waiting.get(name)?.(value);
  });
  return {
    say: (line) => output.write(JSON.stringify(line) + '\n'),
    next: (name) =>
      heard.has(name) ? Promise.resolve(heard.get(name)) : new Promise((resolve) => waiting.set(name, resolve)),
    close: () => {
      output.end();
      child?.kill();
    },
  };
}

/** A connection to a socket that may not be there yet. */
async function connected(path) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await new Promise((resolve, reject) => {
        const stream = connect(path, () => resolve(stream)).on('error', reject);
      });
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(50);
    }
  }
}

/** Of all statistics the ones that show what congestion control does. Absent is what the stack does
 * not report. */
async function stats(connection) {
  const all = [...(await connection.getStats()).values()];
  const video = all.find(({ type, kind }) => type === 'outbound-rtp' && kind === 'video') ?? {};
  const pair = all.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded') ?? {};
  return {
    at_ns: Number(process.hrtime.bigint()),
    available_bits_per_sec: pair.availableOutgoingBitrate,
    round_trip_s: pair.currentRoundTripTime,
    target_bits_per_sec: video.targetBitrate,
    frame_width: video.frameWidth,
    frame_height: video.frameHeight,
    frames_per_sec: video.framesPerSecond,
    frames_encoded: video.framesEncoded,
    qp_sum: video.qpSum,
    bytes_sent: video.bytesSent,
    packets_retransmitted: video.retransmittedPacketsSent,
    limited_by: video.qualityLimitationReason,
    resolution_changes: video.qualityLimitationResolutionChanges,
  };
}

let peer;

function fail(error) {
  process.stderr.write(`call: ${error.message ?? error}\n`);
  peer?.close();
  process.exit(1);
}

async function call() {
  peer = await openPeer();
  const connection = new wrtc.RTCPeerConnection();
  const source = new wrtc.nonstandard.RTCVideoSource();
  const track = source.createTrack();
  const { sender } = connection.addTransceiver(track, { direction: 'sendonly' });
  await connection.setLocalDescription(await connection.createOffer());
  if (connection.iceGatheringState !== 'complete') {
    const gathered = new Promise((resolve) => {
      connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve();
    });
    await within(10_000, 'finding addresses', gathered);
  }
  peer.say({ offer: { sdp: connection.localDescription.sdp, address: values.address } });
  await connection.setRemoteDescription(await within(10_000, 'the answer', peer.next('answer')));
  if (values['max-kbit']) {
    const parameters = sender.getParameters();
    for (const encoding of parameters.encodings) encoding.maxBitrate = number('max-kbit') * 1000;
    await sender.setParameters(parameters);
  }
  await within(15_000, 'connecting', peer.next('connected'));
  say({ connected: { at_ns: Number(process.hrtime.bigint()), width, height, rate } });

  const picture = new Picture(width, height, values.numbered);
  const send = () => {
    if (values.numbered) say({ sent: { number: picture.frame & 0xffff, at_ns: Number(process.hrtime.bigint()) } });
    source.onFrame(picture.next());
  };
  const timers = [
    setInterval(send, 1000 / rate),
    setInterval(() => stats(connection).then((line) => say({ stats: line }), fail), 100),
  ];
  await sleep(seconds * 1000);
  timers.forEach(clearInterval);
  peer.say({ end: {} });
  say({ summary: await within(5_000, 'the summary', peer.next('summary')) });
  track.stop();
  connection.close();
  peer.close();
}

process.on('SIGTERM', () => fail('terminated'));
setTimeout(() => fail('the call does not end'), (seconds + 60) * 1000).unref();
// libwebrtc's threads would keep the process.
call().then(() => process.exit(0), fail);
