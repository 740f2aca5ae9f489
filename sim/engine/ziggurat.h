/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of the 256-layer ziggurat for exp(-x) (Marsaglia and Tsang 2000), and the sampler.
 *
 * All layers have the same area V; layer i spans [0, x[i]) and heights exp(-x[i])..exp(-x[i+1]),
 * with x[1] = R the start of the tail, x[0] = V / exp(-R) the width of the base strip with its
 * tail, x[256] = 0. Constants are written as hexadecimal floats so that no machine's libm decides
 * a table entry; a test computes them anew. Private to the engine, its tests and its benchmark.
 */
#ifndef SIM_ENGINE_ZIGGURAT_H
#define SIM_ENGINE_ZIGGURAT_H

#include <math.h>
#include <stdint.h>

enum { SIM_ZIGGURAT_LAYERS = 256 };

static const double SIM_ZIGGURAT_TAIL = 0x1.ec9d9297ebb83p+2; /* R = 7.69711747013104971 */

/* x[i] / 2^53; the last is 0. */
static const double SIM_ZIGGURAT_WIDTH[SIM_ZIGGURAT_LAYERS + 1] = {
    0x1.164ec94bf5dc1p-50, 0x1.ec9d9297ebb83p-51, 0x1.bc39e51da71fcp-51, 0x1.9e9dc0d487b85p-51,
    0x1.8939fe6f2ed19p-51, 0x1.78750d6eac62fp-51, 0x1.6aa676d4bbf72p-51, 0x1.5ee7ae17313d2p-51,
    0x1.54ad83ccf73f6p-51, 0x1.4b9d7cd4751d1p-51, 0x1.4379766e41362p-51, 0x1.3c14ec7c8b861p-51,
    0x1.354ee27ccf75ep-51, 0x1.2f0e38a4411f0p-51, 0x1.293f5ae49aaa5p-51, 0x1.23d2bb659919fp-51,
    0x1.1ebbca0c9fa7cp-51, 0x1.19f03bcb3c2d6p-51, 0x1.156786775442ap-51, 0x1.111a8034392a6p-51,
    0x1.0d031785d48a0p-51, 0x1.091c1cdcba54ep-51, 0x1.056118bf58eefp-51, 0x1.01ce2b362ec2ep-51,
    0x1.fcbfe43f6c6e5p-52, 0x1.f626e9791f7a7p-52, 0x1.efcc26750ea4ap-52, 0x1.e9aaf2af383c1p-52,
    0x1.e3bf26e190960p-52, 0x1.de050af4ef19fp-52, 0x1.d87946fec3becp-52, 0x1.d318d6b2738c5p-52,
    0x1.cde0fecf2a97fp-52, 0x1.c8cf442c8c8f4p-52, 0x1.c3e1641c2e0a7p-52, 0x1.bf154de4bef77p-52,
    0x1.ba691d276da5ep-52, 0x1.b5db15091ea0fp-52, 0x1.b1699c003b60ap-52, 0x1.ad13382d845c4p-52,
    0x1.a8d68c2ad86eap-52, 0x1.a4b2543e84c3bp-52, 0x1.a0a563e49f178p-52, 0x1.9caea3a24d9eap-52,
    0x1.98cd0f18d1ad8p-52, 0x1.94ffb34fc2a0ep-52, 0x1.9145ad2f37544p-52, 0x1.8d9e2823b3695p-52,
    0x1.8a085ce695babp-52, 0x1.8683906687342p-52, 0x1.830f12cc0bec3p-52, 0x1.7faa3e96e1412p-52,
    0x1.7c5477d1476d3p-52, 0x1.790d2b56b71f9p-52, 0x1.75d3ce2bd71c3p-52, 0x1.72a7dce5cd218p-52,
    0x1.6f88db1f42507p-52, 0x1.6c7652f9a7b1ep-52, 0x1.696fd4a9748eep-52, 0x1.6674f60c3f432p-52,
    0x1.63855247b2e94p-52, 0x1.60a0897081879p-52, 0x1.5dc640388bd9ep-52, 0x1.5af61fa38e107p-52,
    0x1.582fd4c1b4461p-52, 0x1.5573106f8a75ap-52, 0x1.52bf871acaab2p-52, 0x1.5014f08b99508p-52,
    0x1.4d7307b1cb127p-52, 0x1.4ad98a75da14cp-52, 0x1.4848398d39432p-52, 0x1.45bed851bc92cp-52,
    0x1.433d2c9bd42f8p-52, 0x1.40c2fe9f5eeadp-52, 0x1.3e5018cadded0p-52, 0x1.3be447a8d8b83p-52,
    0x1.397f59c345143p-52, 0x1.37211f88ca856p-52, 0x1.34c96b33bc965p-52, 0x1.327810b2aa7d0p-52,
    0x1.302ce59265965p-52, 0x1.2de7c0e962d70p-52, 0x1.2ba87b445db51p-52, 0x1.296eee942532bp-52,
    0x1.273af61c7daa6p-52, 0x1.250c6e6403bbap-52, 0x1.22e33524fe550p-52, 0x1.20bf293f0f4a2p-52,
    0x1.1ea02aa9b3370p-52, 0x1.1c861a6782a5ap-52, 0x1.1a70da7a27820p-52, 0x1.18604dd6fae9ep-52,
    0x1.1654585c404c1p-52, 0x1.144cdec6f3a2bp-52, 0x1.1249c6a92154ap-52, 0x1.104af660befcep-52,
    0x1.0e50550efcfb7p-52, 0x1.0c59ca900946fp-52, 0x1.0a673f733c819p-52, 0x1.08789cf3aad0fp-52,
    0x1.068dccf1126dbp-52, 0x1.04a6b9e9224a3p-52, 0x1.02c34ef11391bp-52, 0x1.00e377af911d4p-52,
    0x1.fe0e40add09d8p-53, 0x1.fa5c6b3efe1e5p-53, 0x1.f6b1498515ed0p-53, 0x1.f30cb6ea0bc7fp-53,
    0x1.ef6e8fc5b9168p-53, 0x1.ebd6b154a7678p-53, 0x1.e844f9af4237fp-53, 0x1.e4b947c16a452p-53,
    0x1.e1337b426509bp-53, 0x1.ddb374ad2357fp-53, 0x1.da391538da50ap-53, 0x1.d6c43ed1ea3fep-53,
    0x1.d354d4130f2adp-53, 0x1.cfeab83ed7180p-53, 0x1.cc85cf395a56cp-53, 0x1.c925fd82323fbp-53,
    0x1.c5cb282eab1a4p-53, 0x1.c27534e42e02dp-53, 0x1.bf2409d2dfd85p-53, 0x1.bbd78db072610p-53,
    0x1.b88fa7b324fb6p-53, 0x1.b54c3f8cf2542p-53, 0x1.b20d3d66e8bb5p-53, 0x1.aed289dcaacffp-53,
    0x1.ab9c0df81657ap-53, 0x1.a869b32d0f30fp-53, 0x1.a53b63556c690p-53, 0x1.a21108ad0592dp-53,
    0x1.9eea8dcdde951p-53, 0x1.9bc7ddac7035dp-53, 0x1.98a8e3940bbf4p-53, 0x1.958d8b235828ap-53,
    0x1.9275c048e73e1p-53, 0x1.8f616f3fe1513p-53, 0x1.8c50848cc6094p-53, 0x1.8942ecfa40f54p-53,
    0x1.86389596108e7p-53, 0x1.83316badfe62ap-53, 0x1.802d5ccce7277p-53, 0x1.7d2c56b7d17f7p-53,
    0x1.7a2e476b1240ap-53, 0x1.77331d177d130p-53, 0x1.743ac61fa041cp-53, 0x1.714531150a9fbp-53,
    0x1.6e524cb59a608p-53, 0x1.6b6207e8d3cdfp-53, 0x1.687451bd3ebeep-53, 0x1.65891965c9b8cp-53,
    0x1.62a04e3731a2ep-53, 0x1.5fb9dfa56cf26p-53, 0x1.5cd5bd4119335p-53, 0x1.59f3d6b4e9cf9p-53,
    0x1.57141bc316f27p-53, 0x1.54367c42cb5f8p-53, 0x1.515ae81d900fbp-53, 0x1.4e814f4cb45eap-53,
    0x1.4ba9a1d6b18a4p-53, 0x1.48d3cfcc883c4p-53, 0x1.45ffc94716ca7p-53, 0x1.432d7e6466cd0p-53,
    0x1.405cdf44f09c4p-53, 0x1.3d8ddc08d336dp-53, 0x1.3ac064ccfeffcp-53, 0x1.37f469a851af0p-53,
    0x1.3529daa8a1ba1p-53, 0x1.3260a7cfb7611p-53, 0x1.2f98c11031721p-53, 0x1.2cd2164a53b5dp-53,
    0x1.2a0c9748bcdaap-53, 0x1.274833bd0189fp-53, 0x1.2484db3c2a329p-53, 0x1.21c27d3b10e05p-53,
    0x1.1f01090a9c4e2p-53, 0x1.1c406dd3d5283p-53, 0x1.19809a93d2396p-53, 0x1.16c17e1777ffbp-53,
    0x1.140306f707dbep-53, 0x1.114523917ac15p-53, 0x1.0e87c207a2f66p-53, 0x1.0bcad03710137p-53,
    0x1.090e3bb4b0072p-53, 0x1.0651f1c7276f8p-53, 0x1.0395df60db162p-53, 0x1.00d9f119a3cd9p-53,
    0x1.fc3c26504a9a1p-54, 0x1.f6c462b57feb5p-54, 0x1.f14c6e202949fp-54, 0x1.ebd41e5e21b62p-54,
    0x1.e65b483cf1044p-54, 0x1.e0e1bf77c31fep-54, 0x1.db6756a429057p-54, 0x1.d5ebdf1d86b8dp-54,
    0x1.d06f28ef0e6fbp-54, 0x1.caf102bc25adbp-54, 0x1.c57139a70d29fp-54, 0x1.bfef99359fe99p-54,
    0x1.ba6beb33f8f89p-54, 0x1.b4e5f794c979bp-54, 0x1.af5d844f224c9p-54, 0x1.a9d255396d261p-54,
    0x1.a4442be14884ap-54, 0x1.9eb2c75ff03bfp-54, 0x1.991de42ad1338p-54, 0x1.93853bdfda244p-54,
    0x1.8de8850d0c52ap-54, 0x1.884772f2be1ecp-54, 0x1.82a1b53fed599p-54, 0x1.7cf6f7c7e8172p-54,
    0x1.7746e23077973p-54, 0x1.71911797990bbp-54, 0x1.6bd5362faa944p-54, 0x1.6612d6d0c68e0p-54,
    0x1.60498c7dd2ecfp-54, 0x1.5a78e3db8befdp-54, 0x1.54a0629786f4dp-54, 0x1.4ebf86bcd0b93p-54,
    0x1.48d5c5f35e712p-54, 0x1.42e28ca706748p-54, 0x1.3ce53d12162a0p-54, 0x1.36dd2e26d8202p-54,
    0x1.30c9aa526da4bp-54, 0x1.2aa9ee123680bp-54, 0x1.247d26538ff2ep-54, 0x1.1e426e93e49e7p-54,
    0x1.17f8ceb4bdfa0p-54, 0x1.119f38749f5afp-54, 0x1.0b348479b80fcp-54, 0x1.04b76ed6a7558p-54,
    0x1.fc4d25d683209p-55, 0x1.ef00ccf5f4faap-55, 0x1.e186678f1735ap-55, 0x1.d3da24df17c36p-55,
    0x1.c5f7bd78c3f89p-55, 0x1.b7da5dddda3c4p-55, 0x1.a97c8be5d5203p-55, 0x1.9ad80552237d2p-55,
    0x1.8be5954d3606fp-55, 0x1.7c9cdda17d019p-55, 0x1.6cf40f0a72bbdp-55, 0x1.5cdf89d024ac3p-55,
    0x1.4c515c60bfe21p-55, 0x1.3b388fe3d6ecap-55, 0x1.2980290da2633p-55, 0x1.170db24d6f670p-55,
    0x1.03bf049c65c3cp-55, 0x1.decd8b76dbd98p-56, 0x1.b38d1ef79b7ccp-56, 0x1.85090fbc27a80p-56,
    0x1.522e6e54a2a73p-56, 0x1.19335a95b8dbap-56, 0x1.ad6b2495b4d2bp-57, 0x1.0589d8b5d4119p-57,
    0x0.0000000000000p+00,
};

/* exp(-x[i]), the lower edge of layer i; layer 0 is the base strip. */
static const double SIM_ZIGGURAT_HEIGHT[SIM_ZIGGURAT_LAYERS] = {
    0x0.0000000000000p+00, 0x1.dc31c329f0b4bp-12, 0x1.fb20af78dfcb9p-11, 0x1.92bb5540c3e25p-10,
    0x1.1946ba8e1a324p-09, 0x1.6d888f3a1feffp-09, 0x1.c58b381cd4b11p-09, 0x1.1073d69574043p-08,
    0x1.3fa97cee322fdp-08, 0x1.7049f37ec3620p-08, 0x1.a23e9d4974836p-08, 0x1.d5751fa745dc5p-08,
    0x1.04ef2295fd7f9p-07, 0x1.1fb69edb37671p-07, 0x1.3b0b8c1516f62p-07, 0x1.56e930be416cbp-07,
    0x1.734b6e6aa74f5p-07, 0x1.902ea688fa7bdp-07, 0x1.ad8fa5542c92dp-07, 0x1.cb6b9146e2757p-07,
    0x1.e9bfdde89c7cep-07, 0x1.04452091e02f0p-06, 0x1.13e4554725f5fp-06, 0x1.23bc9e1b93a32p-06,
    0x1.33cd225315d84p-06, 0x1.44151ce87f0bep-06, 0x1.5493da6ab0251p-06, 0x1.6548b72a24077p-06,
    0x1.76331da87fc96p-06, 0x1.8752853ec9967p-06, 0x1.98a670f132a48p-06, 0x1.aa2e6e6924e9bp-06,
    0x1.bbea150fa5870p-06, 0x1.cdd9054331b0cp-06, 0x1.dffae7a517468p-06, 0x1.f24f6c7af9890p-06,
    0x1.026b2590dfaeep-05, 0x1.0bc7a0c7cd651p-05, 0x1.153d09f19b3a1p-05, 0x1.1ecb45ff312d4p-05,
    0x1.28723c956c00cp-05, 0x1.3231d7e3f14aep-05, 0x1.3c0a047ff18ffp-05, 0x1.45fab14266b19p-05,
    0x1.5003cf296c5ebp-05, 0x1.5a25513c5d2cap-05, 0x1.645f2c726a041p-05, 0x1.6eb1579b6af52p-05,
    0x1.791bcb4ab089ep-05, 0x1.839e81c3a396bp-05, 0x1.8e3976e80776dp-05, 0x1.98eca827b7c4cp-05,
    0x1.a3b81471bf138p-05, 0x1.ae9bbc26a8084p-05, 0x1.b997a10bed985p-05, 0x1.c4abc640721e9p-05,
    0x1.cfd83031e794ap-05, 0x1.db1ce49315810p-05, 0x1.e679ea52eb2e5p-05, 0x1.f1ef49944e834p-05,
    0x1.fd7d0ba699676p-05, 0x1.04919d7f5c817p-04, 0x1.0a70f19871b3bp-04, 0x1.105c88756ca50p-04,
    0x1.165468f755392p-04, 0x1.1c589a86fa340p-04, 0x1.22692512c9d8cp-04, 0x1.2886110ce0570p-04,
    0x1.2eaf676948dd1p-04, 0x1.34e5319c6e718p-04, 0x1.3b277999b9f9ep-04, 0x1.417649d25b10ep-04,
    0x1.47d1ad343985cp-04, 0x1.4e39af290d929p-04, 0x1.54ae5b959d036p-04, 0x1.5b2fbed91bb3ep-04,
    0x1.61bde5ccadef7p-04, 0x1.6858ddc30b620p-04, 0x1.6f00b488416b6p-04, 0x1.75b5786193c1ep-04,
    0x1.7c77380d7a6f3p-04, 0x1.834602c3bc4bap-04, 0x1.8a21e835a533bp-04, 0x1.910af88e574b9p-04,
    0x1.9801447336b70p-04, 0x1.9f04dd046f428p-04, 0x1.a615d3dd938b7p-04, 0x1.ad343b1655465p-04,
    0x1.b460254356548p-04, 0x1.bb99a5771268fp-04, 0x1.c2e0cf42e10afp-04, 0x1.ca35b6b80fd57p-04,
    0x1.d198706914dd7p-04, 0x1.d909116ad9398p-04, 0x1.e087af561bafbp-04, 0x1.e8146048eb9ccp-04,
    0x1.efaf3ae83c33cp-04, 0x1.f758566190414p-04, 0x1.ff0fca6cbea8dp-04, 0x1.036ad7a6e7f04p-03,
    0x1.07550eeb7a5bep-03, 0x1.0b4697b54b62fp-03, 0x1.0f3f7efec1720p-03, 0x1.133fd20c9712fp-03,
    0x1.17479e6f0ae78p-03, 0x1.1b56f2031d666p-03, 0x1.1f6ddaf3dca65p-03, 0x1.238c67bbbe878p-03,
    0x1.27b2a72609940p-03, 0x1.2be0a8504cf34p-03, 0x1.30167aabe7d6ep-03, 0x1.34542dffa0cafp-03,
    0x1.3899d2694d5c9p-03, 0x1.3ce7785f8a905p-03, 0x1.413d30b386a9ap-03, 0x1.459b0c92dccc6p-03,
    0x1.4a011d8983096p-03, 0x1.4e6f7583cb6fap-03, 0x1.52e626d078c49p-03, 0x1.57654422e78f5p-03,
    0x1.5bece0954c2b6p-03, 0x1.607d0fab06a31p-03, 0x1.6515e5530d1acp-03, 0x1.69b775ea6da28p-03,
    0x1.6e61d63ee84eap-03, 0x1.73151b91a2839p-03, 0x1.77d15b99f46fep-03, 0x1.7c96ac8851baep-03,
    0x1.816525094e7e6p-03, 0x1.863cdc48c1af9p-03, 0x1.8b1de9f5062d5p-03, 0x1.900866425bb79p-03,
    0x1.94fc69ee692a1p-03, 0x1.99fa0e43e1623p-03, 0x1.9f016d1e4c512p-03, 0x1.a412a0edf5cbcp-03,
    0x1.a92dc4bc03c49p-03, 0x1.ae52f42eb5b0bp-03, 0x1.b3824b8dcef3ep-03, 0x1.b8bbe7c72e4a5p-03,
    0x1.bdffe67394435p-03, 0x1.c34e65db9afeep-03, 0x1.c8a784fce1802p-03, 0x1.ce0b638f6d09fp-03,
    0x1.d37a220b431fdp-03, 0x1.d8f3e1ae3eeb8p-03, 0x1.de78c48224f39p-03, 0x1.e408ed62f83a7p-03,
    0x1.e9a48005940f2p-03, 0x1.ef4ba0fe8e09bp-03, 0x1.f4fe75c963e7ep-03, 0x1.fabd24cff9354p-03,
    0x1.0043eab93476ap-02, 0x1.032f580797c2cp-02, 0x1.0620ef05d90d2p-02, 0x1.0918c4ee93e13p-02,
    0x1.0c16ef88f5333p-02, 0x1.0f1b852d9a66cp-02, 0x1.12269ccba9fbap-02, 0x1.15384dee291efp-02,
    0x1.1850b0c191982p-02, 0x1.1b6fde19abc5ap-02, 0x1.1e95ef77b09dbp-02, 0x1.21c2ff10b7effp-02,
    0x1.24f727d4776fdp-02, 0x1.2832857457629p-02, 0x1.2b75346ae2262p-02, 0x1.2ebf520394270p-02,
    0x1.3210fc6312435p-02, 0x1.356a528fcd0ddp-02, 0x1.38cb747b17defp-02, 0x1.3c34830abb285p-02,
    0x1.3fa5a0230a14ep-02, 0x1.431eeeb1841e2p-02, 0x1.46a092b80beefp-02, 0x1.4a2ab158bdad3p-02,
    0x1.4dbd70e26f91dp-02, 0x1.5158f8dde89f5p-02, 0x1.54fd721bda3e7p-02, 0x1.58ab06c3aa9efp-02,
    0x1.5c61e2631ee6cp-02, 0x1.602231fef5876p-02, 0x1.63ec2424827e4p-02, 0x1.67bfe8fc60d9fp-02,
    0x1.6b9db25e4e99cp-02, 0x1.6f85b3e649e9dp-02, 0x1.7378230b08deap-02, 0x1.77753735e72e3p-02,
    0x1.7b7d29dc6801ep-02, 0x1.7f90369b6ce59p-02, 0x1.83ae9b5446138p-02, 0x1.87d8984bc3f8cp-02,
    0x1.8c0e704b75d39p-02, 0x1.905068c545d04p-02, 0x1.949ec9f9a8110p-02, 0x1.98f9df2097ba8p-02,
    0x1.9d61f695a3792p-02, 0x1.a1d76207521f4p-02, 0x1.a65a76aa30140p-02, 0x1.aaeb8d6fdf6e5p-02,
    0x1.af8b03428ef5fp-02, 0x1.b43939454806fp-02, 0x1.b8f6951990b88p-02, 0x1.bdc3812aeeeb5p-02,
    0x1.c2a06d00ea583p-02, 0x1.c78dcd983fb60p-02, 0x1.cc8c1dc40e092p-02, 0x1.d19bde97e1a0bp-02,
    0x1.d6bd97db9ed7ap-02, 0x1.dbf1d88a7210cp-02, 0x1.e139375e137fcp-02, 0x1.e6945367dd351p-02,
    0x1.ec03d4b969d90p-02, 0x1.f1886d1eb424dp-02, 0x1.f722d8ebfc5fap-02, 0x1.fcd3dfe214576p-02,
    0x1.014e2b160f324p-01, 0x1.043e8ebd26548p-01, 0x1.073b931ee3b7dp-01, 0x1.0a45b8854d02ap-01,
    0x1.0d5d8812b1e2bp-01, 0x1.108394a1cc38dp-01, 0x1.13b87bc33169cp-01, 0x1.16fce6dce6feep-01,
    0x1.1a518c71e3b25p-01, 0x1.1db7319877b89p-01, 0x1.212eaba813ec8p-01, 0x1.24b8e228c50a3p-01,
    0x1.2856d111132bdp-01, 0x1.2c098b61f4f24p-01, 0x1.2fd23e345da5ep-01, 0x1.33b23450e6318p-01,
    0x1.37aada708ddd9p-01, 0x1.3bbdc44e1d114p-01, 0x1.3fecb2bb18b80p-01, 0x1.44399afa8e125p-01,
    0x1.48a6afb8ee069p-01, 0x1.4d366c151f8afp-01, 0x1.51eba1578899ap-01, 0x1.56c9882da8773p-01,
    0x1.5bd3d694cac75p-01, 0x1.610edc1a7af66p-01, 0x1.667fa6d4f5c06p-01, 0x1.6c2c3498418c6p-01,
    0x1.721bb5ba94b63p-01, 0x1.7856e9b09d47ep-01, 0x1.7ee8a2d243126p-01, 0x1.85de87806c5b8p-01,
    0x1.8d4a376d3d22fp-01, 0x1.95431c455aa39p-01, 0x1.9de9715556d9bp-01, 0x1.a76baa562fae7p-01,
    0x1.b210f0ee67f2ap-01, 0x1.be5007beb7b27p-01, 0x1.cd0a65081fff1p-01, 0x1.e0545e5881137p-01,
};

/* An exponential with mean 1. `next` gives 64 random bits from `source`; the layer comes from the
 * low 8 bits, the mantissa from the high 53. The tail is memoryless: R plus a fresh draw. */
static inline double sim_ziggurat_exponential(uint64_t (*next)(void *source), void *source)
{
    double base = 0.0;
    for (;;) {
        const uint64_t bits = next(source);
        const uint64_t mantissa = bits >> 11;
        const unsigned layer = (unsigned)(bits & (SIM_ZIGGURAT_LAYERS - 1));
        const double x = (double)mantissa * SIM_ZIGGURAT_WIDTH[layer];
        if (x < SIM_ZIGGURAT_WIDTH[layer + 1] * 0x1p53) /* inside the curve */
            return base + x;
        if (layer == 0) {
            base += SIM_ZIGGURAT_TAIL;
            continue;
        }
        const double low = SIM_ZIGGURAT_HEIGHT[layer];
        const double high = layer + 1 < SIM_ZIGGURAT_LAYERS ? SIM_ZIGGURAT_HEIGHT[layer + 1] : 1.0;
        const double height = (double)(next(source) >> 11) * 0x1p-53;
        if (low + height * (high - low) < exp(-x))
            return base + x;
    }
}

#endif
